let passed = Promise.resolve()
let open = (): void => undefined

/** From now on pages wait at the gate, until it is opened. */
export function closeGate(): void {
  passed = new Promise((resolve) => (open = resolve))
}

export function openGate(): void {
  open()
}

export async function atGate(): Promise<void> {
  await passed
}
