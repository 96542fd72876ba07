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
      rows: [{ name: 'ours', is: 'ours', cells: { ratio: 1 } }],
    },
  ],
  targets: [],
  plots: [],
}
const kept = { 'bench/results/hit.json': JSON.stringify(result) }
const page = (name: string, text: string): string =>
  `# Speed\n\n<!-- generated: bench ${name} -->\n\n${text}\n\n<!-- /generated -->\n`

holds(
  'docs',
  [
    [
      'a plot that is not the one of its result',
      { ...kept, 'docs/performance.md': page('hit', ''), 'docs/plots/hit.svg': '<svg/>' },
      'docs/performance.md:1',
      'docs/plots/hit.svg is behind bench/results',
    ],
    [
      'a figure that was typed',
      {
        'bench/results/size.json': JSON.stringify({
          ...result,
          bench: 'size',
          tables: [{ ...result.tables[0], id: 'other' }],
        }),
        'docs/performance.md': page(
          'size',
          '**A hit**\n\n|          | speed |\n| -------- | ----: |\n| **ours** |  9.00 |',
        ),
      },
      'docs/performance.md:9',
      'npm run docs',
    ],
  ],
  [
    [
      'a table as its result has it',
      {
        'bench/results/size.json': JSON.stringify({
          ...result,
          bench: 'size',
          tables: [{ ...result.tables[0], id: 'other' }],
        }),
        'docs/performance.md': page(
          'size',
          '**A hit**\n\n|          | speed |\n| -------- | ----: |\n| **ours** |  1.00 |',
        ),
      },
    ],
  ],
)
