/** Holds back whoever waits for `passed`, until it is opened. */
export interface Gate {
  readonly passed: Promise<void>
  open(): void
}

export function gate(): Gate {
  let open: () => void = () => undefined
  const passed = new Promise<void>((resolve) => {
    open = resolve
  })
  return { passed, open }
}
