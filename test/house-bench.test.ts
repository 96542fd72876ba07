import { holds } from './house/broken-law.ts'

const result = {
  bench: 'hit',
  at: '2026-01-01T00:00:00.000Z',
  machine: { cpu: 'a', cores: 2, memory: '1 GB', os: 'linux', node: '20', busy: 0, loadBefore: 0 },
  versions: {},
  tables: [
    {
      id: 'hit',
      title: 'A hit',
      columns: [{ id: 'ratio', title: 'speed', digits: 2 }],
      rows: [{ name: 'getOrSet', is: 'ours', cells: { ratio: { median: 1.5, low: 1.5, high: 1.5 } } }],
    },
  ],
  targets: [],
}
const kept = { 'bench/results/hit.json': JSON.stringify(result) }
const region = (name: string, text: string): string =>
  `# Speed\n\n<!-- generated: ${name} -->\n\n${text}\n\n<!-- /generated -->\n`
const tableWith = (cell: string): string =>
  region(
    'bench hit',
    `**A hit**\n\n|              |     speed |\n| ------------ | --------: |\n| **getOrSet** | ${cell} |`,
  )
const sentence = (place: string, figure: string): string =>
  region('bench redis', 'No result is kept yet: `npm run bench -- redis --keep`.') +
  `\nIt is <!-- figure: ${place} -->${figure}<!-- /figure --> times as fast.\n`

holds(
  'docs',
  [
    [
      'a plot that is not the one of its result',
      { ...kept, 'docs/performance.md': region('plot hit', ''), 'docs/plots/hit.svg': '<svg/>' },
      'docs/performance.md:1',
      'docs/plots/hit.svg is behind bench/results',
    ],
    [
      'a plot that no result has',
      { ...kept, 'docs/performance.md': region('plot memory', '') },
      'docs/performance.md:1',
      'no result has a plot memory',
    ],
    [
      'a figure that was typed',
      { ...kept, 'bench/results/README.md': tableWith('9.00 ±0 %') },
      'bench/results/README.md:9',
      'npm run docs',
    ],
    [
      'a figure that was typed into a sentence',
      { ...kept, 'docs/performance.md': sentence('hit | getOrSet | ratio', '9') },
      'docs/performance.md:9',
      'npm run docs',
    ],
    [
      'a figure of a row that no result has',
      { ...kept, 'docs/performance.md': sentence('hit | get | ratio', '1.5') },
      'docs/performance.md:1',
      'no result has the figure hit | get | ratio',
    ],
  ],
  [
    ['a table as its result has it', { ...kept, 'bench/results/README.md': tableWith('1.50 ±0 %') }],
    ['a figure as its result has it', { ...kept, 'docs/performance.md': sentence('hit | getOrSet | ratio', '1.5') }],
  ],
)
