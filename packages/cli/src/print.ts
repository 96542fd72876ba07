// Control characters move the cursor or recolour a terminal, format characters reverse the reading direction,
// and line separators start a new line. A value from Redis must do none of this to the reader's terminal.
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

const KILOBYTE = 1024

/** Escapes the characters of one line that would control a terminal. */
export function escapeControls(text: string): string {
  return text.replace(UNSAFE, (character) => {
    const code = character.codePointAt(0) ?? 0
    if (code <= 0xff) return `\\x${code.toString(16).padStart(2, '0')}`
    return code <= 0xffff ? `\\u${code.toString(16).padStart(4, '0')}` : `\\u{${code.toString(16)}}`
  })
}

/**
 * Escapes each line: messages contain text from Redis and from the command line, which must not control
 * the terminal.
 */
export function escapeLines(text: string): string {
  return text.split('\n').map(escapeControls).join('\n')
}

/** A key or tag for a message: in quotes if it is empty, or if its beginning or end would be unclear. */
export function displayKey(key: string): string {
  return key === '' || /^\s|\s$|, /.test(key) ? `'${escapeControls(key)}'` : escapeControls(key)
}

export function displayKeys(keys: readonly string[]): string {
  return keys.map(displayKey).join(', ')
}

/** One line of JSON, with the characters escaped that would control a terminal. */
export function jsonLine(document: unknown): string {
  return JSON.stringify(document).replace(UNSAFE, (character) =>
    Array.from(
      { length: character.length },
      (_, unit) => `\\u${character.charCodeAt(unit).toString(16).padStart(4, '0')}`,
    ).join(''),
  )
}

export function formatSize(bytes: number): string {
  if (bytes < KILOBYTE) return `${bytes} ${bytes === 1 ? 'byte' : 'bytes'}`
  const megabytes = bytes / KILOBYTE ** 2
  return megabytes < 1 ? `${(bytes / KILOBYTE).toFixed(1)} kb` : `${megabytes.toFixed(1)} mb`
}

/** A label and its lines. Every line begins in the same column, so that none can be taken for a label. */
export type Row = readonly [label: string, ...lines: readonly string[]]

export function table(rows: readonly Row[]): string {
  const width = Math.max(...rows.map(([label]) => label.length)) + 2
  return rows
    .flatMap(([label, ...lines]) =>
      lines.map((line, index) => `${(index === 0 ? label : '').padEnd(width)}${line}`.trimEnd()),
    )
    .join('\n')
}
