import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Browser, chromium, type Page } from 'playwright-core'
import { findChromium } from './chromium.ts'
import { stateOf } from './process-state.ts'
import { pageOf, startDemo, startedBy, type RunningDemo } from './running-demo.ts'

const START_MS = 120_000
const POLL_MS = 100
const SIDES = ['unprotected', 'in-process', 'token-lock', 'cattlegrid'] as const

type SideName = (typeof SIDES)[number]

const executablePath = findChromium()
if (executablePath === undefined)
  process.stdout.write(
    '\nSKIPPED: no Chromium. Install one, such as the Debian package chromium, or set CHROMIUM_PATH.\n',
  )
const onChromium = executablePath === undefined ? describe.skip : describe

onChromium('the page of the demo', () => {
  let taken: Server
  let demo: RunningDemo
  let browser: Browser
  let page: Page
  const complaints: string[] = []

  beforeAll(async () => {
    taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    demo = startDemo(['--port', String((taken.address() as AddressInfo).port)])
    const url = await pageOf(demo)
    // Chromium refuses its sandbox to root, which is who runs the tests in a container.
    browser = await chromium.launch({ executablePath: executablePath ?? '', args: ['--no-sandbox'] })
    page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(error.message))
    await page.goto(url)
    await page.locator('[data-side=cattlegrid] .lane').first().waitFor()
  }, START_MS)

  afterAll(async () => {
    await browser?.close()
    demo?.child.kill('SIGINT')
    await demo?.exited
    taken?.close()
  }, START_MS)

  async function until(holds: () => Promise<boolean> | boolean): Promise<void> {
    while (!(await holds())) await sleep(POLL_MS)
  }

  async function figure(side: SideName, name: string): Promise<number> {
    const text = await page.locator(`[data-side=${side}] [data-figure=${name}]`).innerText()
    return Number(text.replaceAll(',', ''))
  }

  const lanes = (side: SideName, state?: string) =>
    page.locator(`[data-side=${side}] .lane${state === undefined ? '' : `[data-state=${state}]`}`)

  const allUp = (count: number) => async (): Promise<boolean> => {
    const counts = await Promise.all(SIDES.map((side) => lanes(side, 'up').count()))
    return counts.every((each) => each === count)
  }

  /** Presses a button, and returns the line that it adds to the log. */
  async function press(id: string): Promise<string> {
    const button = page.locator(`[data-action=${id}]:not([data-state=running])`)
    await button.waitFor()
    const lines = page.locator('#log li')
    const before = (await lines.allInnerTexts()).join('\n')
    await button.click()
    await until(async () => (await lines.allInnerTexts()).join('\n') !== before)
    const line = await lines.first().innerText()
    expect(line).not.toContain('failed:')
    return line
  }

  /** Presses it again, and checks that it is as it was. */
  async function restore(id: string): Promise<void> {
    expect(await page.locator(`[data-action=${id}]`).getAttribute('aria-pressed')).toBe('true')
    await press(id)
    expect(await page.locator(`[data-action=${id}]`).getAttribute('aria-pressed')).toBe('false')
  }

  test('is served though its port is taken, and draws the four sides', async () => {
    expect(await page.locator('[data-side] h3').allInnerTexts()).toEqual([
      'unprotected',
      'in-process only',
      'naive token lock',
      'cattlegrid',
    ])
    await until(allUp(2))
    expect(await page.locator('.chart canvas').count()).toBe(6)
  })

  test('has charts that move', async () => {
    const canvas = page.locator('[data-chart=requests] canvas')
    const before = await canvas.screenshot()
    await until(async () => !before.equals(await canvas.screenshot()))
    expect(before.equals(await canvas.screenshot())).toBe(false)
  })

  test(
    'shows one query for each expiry of cattlegrid, and hundreds of the unprotected side',
    async () => {
      await press('more-load')
      await until(async () => (await figure('unprotected', 'queries')) >= 200)
      // The page and the database count apart: they agree only if no expiry made a second query.
      await until(async () => (await figure('cattlegrid', 'queries')) === (await figure('cattlegrid', 'expiries')))
      const queries = await figure('cattlegrid', 'queries')
      expect(queries).toBeGreaterThan(1)
      expect(queries).toBeLessThan((await figure('unprotected', 'queries')) / 10)
      expect(await page.locator('#last-cattlegrid').innerText()).toBe('1')
      expect({
        outdated: await figure('cattlegrid', 'outdated'),
        errors: await figure('cattlegrid', 'errors'),
      }).toEqual({
        outdated: 0,
        errors: 0,
      })
      // On a slow machine it has been undone by itself.
      if ((await page.locator('[data-action=more-load]').getAttribute('data-state')) === 'active')
        await restore('more-load')
    },
    START_MS,
  )

  test('is used with the keyboard: the first Tab leads to the buttons, Enter presses one', async () => {
    await page.reload()
    await page.locator('[data-action=expire]').waitFor()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.dataset.action')).toBe('expire')
    const before = await page.locator('#log').innerText()
    await page.keyboard.press('Enter')
    await until(async () => (await page.locator('#log').innerText()) !== before)
  })

  test('draws the last seconds of one key: a lane for each process, a bar for each load, and the words', async () => {
    await page.locator('a[href="/key"]').click()
    await page.locator('#timeline rect.load').first().waitFor()
    expect(await page.locator('#timeline [data-process]').count()).toBeGreaterThanOrEqual(2)
    for (const type of ['lead', 'commit']) await page.locator(`#timeline [data-event=${type}]`).first().waitFor()
    expect((await page.locator('#story').innerText()).length).toBeGreaterThan(0)
    expect(await page.locator('#connection').innerText()).toMatch(/^\d+ processes answered/)
    await page.goBack()
    await page.locator('[data-side=cattlegrid] .lane').first().waitFor()
  })

  describe('a button', () => {
    test('invalidates during a load: no answer of cattlegrid is outdated', async () => {
      expect(await press('invalidate')).toContain('Each side was invalidated during a load')
      await sleep(1_500)
      expect(await figure('cattlegrid', 'outdated')).toBe(0)
    })

    test('purges 10,000 entries softly', async () => {
      expect(await press('soft-purge')).toMatch(/10,000 entries of cattlegrid are stale, after \d+\.\d ms/)
    })

    test('makes the query fail: the unprotected side fails, cattlegrid serves its stale copy', async () => {
      const errors = await figure('unprotected', 'errors')
      await press('fail')
      await press('expire')
      await until(async () => (await figure('unprotected', 'errors')) > errors)
      await restore('fail')
      expect(await figure('cattlegrid', 'errors')).toBe(0)
    })

    test('makes the query slow, and fast again', async () => {
      await press('slow')
      await restore('slow')
      expect(await page.locator('[data-action=slow]').getAttribute('data-state')).toBe('ready')
    })

    test('starts one more process for each side, and ends it', async () => {
      await press('more-processes')
      await until(allUp(3))
      await restore('more-processes')
      await until(allUp(2))
      expect(await lanes('cattlegrid').count()).toBe(2)
    })

    test('freezes the process of each side that loads', async () => {
      const pids = pidsIn(await press('freeze-leader'))
      expect(pids).toHaveLength(4)
      expect(pids.map(stateOf)).toEqual(['T', 'T', 'T', 'T'])
      await until(async () => (await lanes('cattlegrid', 'frozen').count()) === 1)
      await restore('freeze-leader')
      expect(pids.map(stateOf)).not.toContain('T')
      await until(allUp(2))
    })

    test('kills the process of each side that loads, and starts another', async () => {
      const pids = pidsIn(await press('kill-leader'))
      expect(pids).toHaveLength(4)
      await until(async () => (await lanes('cattlegrid', 'ended').count()) === 1)
      expect(pids.map(stateOf)).toEqual(['', '', '', ''])
      await restore('kill-leader')
      await until(allUp(2))
    })

    test('freezes Redis, and lets it go on', async () => {
      const { pid = 0 } = startedBy(demo).find(({ name }) => name === 'Redis') ?? {}
      await press('freeze-redis')
      expect(stateOf(pid)).toBe('T')
      await restore('freeze-redis')
      expect(stateOf(pid)).not.toBe('T')
    })

    test('stops Redis, and starts it again on its port', async () => {
      const { pid = 0 } = startedBy(demo).find(({ name }) => name === 'Redis') ?? {}
      await press('stop-redis')
      expect(stateOf(pid)).toBe('')
      await restore('stop-redis')
      const served = await figure('cattlegrid', 'expiries')
      await until(async () => (await figure('cattlegrid', 'expiries')) > served)
    })
  })

  test('draws each failure of the lock-lab, with the step that breaks marked', async () => {
    const failures = page.locator('#lab details')
    expect(await failures.count()).toBe(15)
    await page.locator('[data-failure=d] summary').click()
    const marked = page.locator('[data-failure=d] .breaks')
    await marked.waitFor()
    expect(await marked.allTextContents()).toEqual(['✗ 5DEL lock → 1'])
  })

  test.each([
    { name: 'desktop', width: 1280, colorScheme: 'light' },
    { name: 'dark', width: 1280, colorScheme: 'dark' },
    { name: 'phone', width: 360, colorScheme: 'light' },
  ] as const)('fits a $name screen', async ({ name, width, colorScheme }) => {
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width, height: 800 })
    await sleep(1_200)
    screenshots ??= mkdtempSync(join(tmpdir(), 'cattlegrid-page-'))
    await page.screenshot({ path: join(screenshots, `${name}.png`), fullPage: true })
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
    await page.locator('a[href="/key"]').click()
    await page.locator('#timeline rect.load').first().waitFor()
    await page.screenshot({ path: join(screenshots, `${name}-key.png`), fullPage: true })
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
    await page.goBack()
  })

  test('loads nothing that its policy forbids, and has no error', () => {
    process.stdout.write(`\nScreenshots: ${screenshots}\n`)
    expect(complaints).toEqual([])
  })
})

let screenshots: string | undefined

function pidsIn(line: string): number[] {
  return Array.from(line.matchAll(/(\d+) \(/g), ([, pid]) => Number(pid))
}
