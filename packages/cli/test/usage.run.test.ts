import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { cattlegrid } from './support/cli.ts'

const nowhere = 'redis://127.0.0.1:1'

describe('help', () => {
  test.each([['--help'], ['-h']])(
    '%s names every command, every option and the exit codes, on stdout',
    async (option) => {
      const { code, out, err } = await cattlegrid([option])
      expect([code, err]).toEqual([0, ''])
      for (const word of [
        'inspect',
        'explain',
        'top',
        'delete',
        'expire',
        'tags',
        'expire-tags',
        'pause',
        'resume',
        'watch',
      ])
        expect(out).toMatch(new RegExp(`^  ${word} `, 'm'))
      for (const word of [
        '--url',
        '--page',
        '--namespace',
        '--timeout',
        '--json',
        '--by',
        '--for',
        '--trace',
        '--help',
        '--version',
        'Exit codes',
      ])
        expect(out).toContain(word)
    },
  )

  test.each(['inspect', 'explain', 'top', 'delete', 'expire', 'tags', 'expire-tags', 'pause', 'resume', 'watch'])(
    '%s explains itself, without operands or a server',
    async (name) => {
      const { code, out, err } = await cattlegrid([name, '--help'], nowhere)
      expect([code, err]).toEqual([0, ''])
      expect(out).toMatch(new RegExp(`^Usage: cattlegrid ${name}`))
    },
  )

  test('the version is that of the package', async () => {
    const manifest = readFileSync(join(__dirname, '../package.json'), 'utf8')
    const { version } = JSON.parse(manifest) as { version: string }
    expect(await cattlegrid(['--version'])).toEqual({ code: 0, out: `${version}\n`, err: '' })
  })
})

const wrong: readonly (readonly [title: string, args: readonly string[], says: string])[] = [
  ['no command', [], 'accepted: inspect, explain, top, delete, expire, tags, expire-tags, pause, resume, watch'],
  ['an unknown command', ['inspct', 'k'], "Command 'inspct' is unknown (did you mean 'inspect'?); accepted: inspect,"],
  ['a command named like a method of every object', ['toString'], "Command 'toString' is unknown"],
  ['an unknown option', ['inspect', 'k', '--name-space', 'x'], "did you mean '--namespace'?); accepted: --url,"],
  ['an unknown short option', ['inspect', 'k', '-j'], "Option '-j' is unknown"],
  ['inspect without a key', ['inspect'], "'inspect' takes one key; none was given"],
  ['inspect with two keys', ['inspect', 'a', 'b'], "'inspect' takes one key; 2 were given"],
  ['explain without a key', ['explain'], "'explain' takes one key; none was given"],
  ['top with a key', ['top', 'k'], "'top' takes no key; 1 was given"],
  ['a weight that is none', ['top', '--by', 'hits'], "Option '--by' is 'hits'; accepted: 'load-time' or 'followers'"],
  ['a weight for a command that sorts nothing', ['explain', 'k', '--by', 'followers'], "'explain' takes no --by"],
  ['a trace of a command that explains nothing', ['inspect', 'k', '--trace', 'f'], "'inspect' takes no --trace"],
  ['delete without a key', ['delete'], "'delete' takes one or more keys; none was given"],
  ['expire without a key', ['expire'], "'expire' takes one or more keys; none was given"],
  ['tags without a tag', ['tags'], "'tags' takes one or more tags; none was given"],
  ['expire-tags without a tag', ['expire-tags'], "'expire-tags' takes one or more tags; none was given"],
  ['an empty tag', ['tags', 'a', ''], 'A tag has 0 characters; accepted: 1 to 256'],
  ['pause with a key', ['pause', 'a'], "'pause' takes no key; 1 was given"],
  ['resume with keys', ['resume', 'a', 'b'], "'resume' takes no key; 2 were given"],
  ['a pause without an end', ['pause', '--for', '0s'], "Option '--for' is '0s'; accepted: a text such as '15m'"],
  ['a time for a command that pauses nothing', ['resume', '--for', '1h'], "'resume' takes no --for"],
  ['watch with a key', ['watch', 'a'], "'watch' takes no key"],
  ['an option without its value', ['inspect', 'k', '--url'], "Option '--url' needs a value; accepted: a URL"],
  ['an option in the place of a value', ['inspect', 'k', '--url', '--json'], "Option '--url' needs a value"],
  ['a value for a flag', ['inspect', 'k', '--json=yes'], "Option '--json' is 'yes'; accepted: no value"],
  [
    'a time-out without a unit',
    ['inspect', 'k', '--timeout', '5'],
    "'5' (did you mean '5s'?); accepted: a text such as '500ms'",
  ],
  ['a time-out of 0', ['inspect', 'k', '--timeout', '0s'], 'accepted: a text such as'],
  ['a URL of another kind', ['inspect', 'k', '--url', 'http://h'], "accepted: a URL such as 'redis://127.0.0.1:6379'"],
  ['a URL with a path', ['inspect', 'k', '--url', 'redis://h/nine'], 'accepted: a URL such as'],
  ['a page in the place of the server', ['inspect', 'k', '--url', 'https://shop/x'], 'The URL of a page takes no key'],
  ['a page in the place of the server of watch', ['watch', '--url', 'https://shop/x'], 'takes no URL of a page'],
  ['a page that is no URL', ['inspect', '--page', '/products/7'], "accepted: the URL of a page, such as 'https://"],
  ['a page of another kind', ['delete', '--page', 'redis://h/7'], 'accepted: the URL of a page'],
  [
    'a page beside a key',
    ['delete', 'k', '--page', 'https://shop/x'],
    "'delete' takes keys or the URL of a page, not both",
  ],
  ['a page for tags', ['tags', '--page', 'https://shop/x'], "'tags' takes no URL of a page"],
  ['a key that no cache accepts', ['inspect', 'x'.repeat(65_537)], 'a string of at most 65536 characters'],
  ['keys of which no cache accepts one', ['expire', 'k', 'x'.repeat(65_537)], 'a string of at most 65536 characters'],
  ['a namespace with a brace', ['inspect', 'k', '--namespace', 'a{b'], 'accepted: 1 to 128 characters'],
]

describe('an invalid command line', () => {
  test.each(wrong)('%s ends with 2 and says what is accepted, on stderr', async (_, args, says) => {
    const { code, out, err } = await cattlegrid(args, nowhere)
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain(says)
    expect(err).not.toMatch(/^\s+at /m)
  })

  test('an invalid REDIS_URL is named in the message', async () => {
    const { code, err } = await cattlegrid(['inspect', 'k'], 'localhost:6379')
    expect(code).toBe(2)
    expect(err).toContain("Variable 'REDIS_URL' is 'localhost:6379'; accepted: a URL")
  })

  test.each([
    'redis://me:s3cret@h/nine',
    'http://me:s3cret@h',
    'redis://me:s3/cr@et@h',
    'me:s3cret@h',
    'redis://me:%zzs3cret@h',
  ])('the password in %s is not shown', async (url) => {
    const { code, err } = await cattlegrid(['inspect', 'k', '--url', url])
    expect(code).toBe(2)
    expect(err).toContain('***@h')
    expect(err).not.toMatch(/s3|cret|cr@et/)
  })

  test('characters that control a terminal are escaped in the message', async () => {
    const { code, err } = await cattlegrid(['\u001B[31m\u202Einspect'])
    expect(code).toBe(2)
    expect(err).toContain('\\x1b[31m\\u202einspect')
  })
})
