/** A shorter text may stand in another one by chance. */
export const TELLING_RUN = 8

const SEPARATORS = /[\s,;:=/"'()<>@?&]+/

/** True if 8 characters of a word of the text stand in the line, in upper or lower case. */
export function hasRun(line: string, text: string): boolean {
  const lower = line.toLowerCase()
  for (const word of text.toLowerCase().split(SEPARATORS))
    for (let end = TELLING_RUN; end <= word.length; end += 1)
      if (lower.includes(word.slice(end - TELLING_RUN, end))) return true
  return false
}
