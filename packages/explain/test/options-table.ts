/** For each option of the package: what it refuses. */
export const optionsTable: Readonly<Record<string, Readonly<Record<string, readonly unknown[]>>>> = {
  ExplainOptions: {
    history: [null, -1, 0.5, 1_000_001, '7'],
    hotKeys: [null, -1, 0.5, 10_001, false],
    plainKeys: [null, 1, 'on'],
    shareErrorMessages: [null, 1, 'on'],
  },
  AskOptions: {
    timeout: [null, -1, 'soon', '7', false, Number.NaN, Infinity],
  },
}
