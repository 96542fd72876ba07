// Reads table.txt, and says which of its rows prove nothing any more because the sources have moved on.

export const tableFile = 'scripts/guards/table.txt'
const contracts = /^packages\/testkit\/src\/(store|adapter)-contract\//
const row = /^(G[1-9]) (rule )?(.+)\n {2}(\S+)\n((?: {2}- .+\n)+)((?: {2}\+ .+\n)*) {2}(\S+\.test\.[jt]s): (.+)$/

/**
 * @typedef {object} Guard
 * @property {string} guarantee `G1` to `G9`
 * @property {boolean} isRule a rule of docs/protocol.md, which lists it
 * @property {string} sentence what holds thanks to the guard
 * @property {string} file
 * @property {RegExp} code the guard, in any indentation
 * @property {string} without what takes its place
 * @property {string} test
 * @property {string} title words of the test's title
 */

/** @returns {Guard[]} @throws for a row that is not written as the head of the table says. */
export function readTable(text) {
  const blocks = text.replaceAll(/^#.*$/gm, '').split(/\n{2,}/)
  return blocks.filter((block) => block.trim() !== '').map((block) => guardOf(block.trim()))
}

function guardOf(block) {
  const [, guarantee, rule, sentence, file, code, without, test, title] = row.exec(block) ?? []
  if (guarantee === undefined) throw new Error(`${tableFile}: this is no row:\n${block}`)
  const lines = linesOf(code).map(escaped)
  return {
    guarantee,
    isRule: rule !== undefined,
    sentence,
    file,
    code: new RegExp(lines.join(String.raw`\s*\n\s*`), 'g'),
    without: linesOf(without).join('\n'),
    test,
    title,
  }
}

const linesOf = (marked) => [...marked.matchAll(/^ {2}[-+] (.+)$/gm)].map(([, line]) => line)

/** A pattern that matches this text and nothing else. */
export const escaped = (text) => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)

/** Why a row proves nothing as it stands. @param {import('../house/tree.mjs').Tree} tree @param {Guard} guard */
export function rotOf(tree, { file, code, test, title }) {
  if (!tree.has(file)) return `${file} does not exist`
  const found = tree.text(file).match(code)?.length ?? 0
  if (found !== 1) return `its code stands in ${file} ${found} times, not once`
  if (!tree.has(test)) return `${test} does not exist`
  const titled = [test, ...tree.matching(contracts)].some((one) => tree.text(one).includes(title))
  return titled ? undefined : `no test of ${test} is called “… ${title} …”`
}
