import { styleText } from 'node:util'

/** Colours on a terminal, plain text elsewhere. */
export type Paint = (colour: 'bold' | 'dim' | 'green' | 'red' | 'yellow', text: string) => string

export function paintFor(colours: boolean): Paint {
  return (colour, text) => (colours ? styleText(colour, text, { validateStream: false }) : text)
}
