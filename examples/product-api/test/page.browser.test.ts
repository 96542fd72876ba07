import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Browser, chromium, type Page } from 'playwright-core'
import { findChromium } from './chromium.ts'
import { FAINT_TEXTS, HEADINGS, inOrder, WIDER_THAN_THE_SCREEN } from './legible.ts'
import { readerOf } from './page-reader.ts'
import { stateOf } from './process-state.ts'
import { pageOf, startDemo, startedBy, type RunningDemo } from './running-demo.ts'

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
    demo = startDemo(['--hold', '--port', String((taken.address() as AddressInfo).port)])
    const url = await pageOf(demo)
    // Chromium refuses its sandbox to root, which is who runs the tests in a container.
    browser = await chromium.launch({ executablePath: executablePath ?? '', args: ['--no-sandbox', '--disable-gpu'] })
    page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(error.message))
    await page.goto(url)
    await page.locator('[data-side=cattlegrid] .lane').first().waitFor()
  })

  afterAll(async () => {
    await browser?.close()
    demo?.child.kill('SIGINT')
    await demo?.exited
    taken?.close()
  })

  const { until, figure, lanes, allUp, press, restore, lastLine, toldFigures, pidsOf } = readerOf(() => page)

  test('is served though its port is taken, and draws the four sides', async () => {
    expect(await page.locator('[data-side] h3').allInnerTexts()).toEqual([
      'unprotected',
      'in-process only',
      'naive token lock',
      'cattlegrid',
    ])
    await until(allUp(2))
    const { port } = taken.address() as AddressInfo
    expect(demo.stderr()).toContain(`Port ${port} is in use, so the page has another one.`)
    expect(await page.locator('.chart canvas').count()).toBe(6)
  })

  test('has charts that move', async () => {
    const canvas = page.locator('[data-chart=requests] canvas')
    const before = await canvas.screenshot()
    await until(async () => !before.equals(await canvas.screenshot()))
    expect(before.equals(await canvas.screenshot())).toBe(false)
  })

  test('shows one load for each expiry of cattlegrid, and fifty times as many of the unprotected side', async () => {
    await press('more-load')
    await until(async () => (await figure('unprotected', 'loads')) >= 100)
    await until(async () => (await figure('cattlegrid', 'expiries')) > 1)
    expect(await figure('cattlegrid', 'loads')).toBeLessThan((await figure('unprotected', 'loads')) / 10)
    await until(async () => (await page.locator('#last-cattlegrid').innerText()) === '1')
    expect(await figure('cattlegrid', 'outdated')).toBe(0)
    // Its clients get the stale copy, those of the lock wait.
    await until(async () => (await figure('token-lock', 'waited')) > 10 * (await figure('cattlegrid', 'waited')) + 10)
    await restore('more-load')
  })

  test('is used with the keyboard: the first Tab leads to the buttons, Enter presses one', async () => {
    await page.reload()
    await page.locator('[data-action=expire]').waitFor()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    const actions = page.locator('#buttons [data-action]')
    for (const button of await actions.all()) {
      await page.keyboard.press('Tab')
      expect(await button.evaluate((shown) => shown === shown.ownerDocument.activeElement)).toBe(true)
    }
    await actions.first().focus()
    const before = await lastLine()
    await page.keyboard.press('Enter')
    await until(async () => (await lastLine()) > before)
    const summary = page.locator('#lab summary').nth(1)
    await summary.focus()
    await page.keyboard.press('Enter')
    await page.locator('#lab details').nth(1).locator('svg').waitFor()
  })

  test('keeps every button in sight, beside the cards on a wide screen, in a strip on a narrow one', async () => {
    await page.setViewportSize({ width: 1280, height: 720 })
    for (const scrolled of ['0', 'document.body.scrollHeight']) {
      await page.evaluate(`window.scrollTo(0, ${scrolled})`)
      const boxes = await Promise.all(
        (await page.locator('#buttons [data-action]').all()).map((button) => button.boundingBox()),
      )
      for (const box of boxes) expect([box?.x, box?.y].map((at) => at !== undefined && at >= 0)).toEqual([true, true])
      expect(Math.max(...boxes.map((box) => (box?.y ?? Infinity) + (box?.height ?? 0)))).toBeLessThanOrEqual(720)
    }
    await page.setViewportSize({ width: 360, height: 740 })
    const strip = await page.locator('#panel').boundingBox()
    expect({ x: strip?.x, width: strip?.width, bottom: (strip?.y ?? 0) + (strip?.height ?? 0) }).toEqual({
      x: 0,
      width: 360,
      bottom: 740,
    })
    await page.setViewportSize({ width: 1280, height: 900 })
    await page.evaluate('window.scrollTo(0, 0)')
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
    test('expires the ranking, and tells what that cost, in a sentence and in a table', async () => {
      await press('expire')
      expect(await toldFigures()).toMatch(/^Expired cattlegrid's ranking: \d+ loads?, /)
      const cells = await page.locator('[data-aftermath=cattlegrid] td').allInnerTexts()
      expect(cells).toEqual([/^\d+$/, /^\d+\.\d\d s$/, /^\d+$/, /^0$/].map((shape) => expect.stringMatching(shape)))
    })

    test('invalidates during a load: no answer of cattlegrid is outdated', async () => {
      expect(await press('invalidate')).toContain('Invalidated each side in mid-load')
      expect(await toldFigures()).toContain('no outdated answers. The naive lock')
      expect(await figure('cattlegrid', 'outdated')).toBe(0)
    })

    test('purges 10,000 entries softly', async () => {
      expect(await press('soft-purge')).toMatch(/10,000 entries of cattlegrid became stale in \d+\.\d ms/)
    })

    test('makes the query fail: the unprotected side fails, cattlegrid serves its stale copy', async () => {
      const errors = await figure('unprotected', 'errors')
      await press('fail')
      await press('expire')
      await until(async () => (await figure('unprotected', 'errors')) > errors)
      await restore('fail')
      expect(await page.locator('#told').innerText()).toMatch(/^The query failed for \d+\.\d s, behind cattlegrid: /)
      expect(await figure('cattlegrid', 'errors')).toBeLessThan(await figure('unprotected', 'errors'))
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

    test('freezes the process of each side that loads, and shows for how long', async () => {
      const line = await press('freeze-leader')
      await until(async () => (await pidsOf('frozen')).length === 4)
      const pids = await pidsOf('frozen')
      expect(pids.map(stateOf)).toEqual(['T', 'T', 'T', 'T'])
      expect(line).toMatch(new RegExp(`Froze cattlegrid's process (?:${pids.join('|')}) in mid-load`))
      const clock = page.locator('[data-side=cattlegrid] .stopped')
      const frozenFor = async (): Promise<number> => Number(/^frozen (\d+\.\d) s$/.exec(await clock.innerText())?.[1])
      const before = await frozenFor()
      await until(async () => (await frozenFor()) > before + 1)
      await toldFigures()
      await restore('freeze-leader')
      expect(pids.map(stateOf)).not.toContain('T')
      await until(allUp(2))
      expect(await toldFigures()).toMatch(/no outdated answers\. The naive lock: .* outdated answers?\.$/)
    })

    test('kills the process of each side that loads, and starts another in its place', async () => {
      const places = await lanes('cattlegrid').locator('strong').allInnerTexts()
      await press('kill-leader')
      await until(async () => (await pidsOf('ended')).length === 4)
      const pids = await pidsOf('ended')
      expect(pids.map(stateOf)).toEqual(['', '', '', ''])
      const told = await toldFigures()
      expect(told).toMatch(/^Killed cattlegrid's process \d+ in mid-load: (?:no|\d+) further loads?, /)
      await restore('kill-leader')
      await until(allUp(2))
      const now = await lanes('cattlegrid').locator('strong').allInnerTexts()
      expect(now.filter((name, place) => name === places[place])).toHaveLength(1)
      // What it cost is not taken away by the line that says that they were started again.
      expect(await page.locator('#told').innerText()).toBe(told)
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

  test('flushes everything: with the limit more calls have an answer in time, and the source has a shorter queue', async () => {
    const [line] = await Promise.all([press('flush'), page.locator('#flush-charts canvas').nth(1).waitFor()])
    const told = /cattlegrid: (\d+) % .* at most (\d+) loads.* maxLoads: false: (\d+) % .* at most (\d+) loads/.exec(
      line,
    )
    const [good = 0, queued = 0, goodWithout = 0, queuedWithout = 0] = told?.slice(1).map(Number) ?? []
    expect(good).toBeGreaterThan(goodWithout)
    expect(queued).toBeLessThan(queuedWithout)
    expect(line).toContain(await page.locator('#flush-told').innerText())
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
  ] as const)(
    'fits a $name screen, with texts in contrast and headings in order',
    async ({ name, width, colorScheme }) => {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize({ width, height: 800 })
      screenshots ??= mkdtempSync(join(tmpdir(), 'cattlegrid-page-'))
      await page.screenshot({ path: join(screenshots, `${name}.png`), fullPage: true })
      expect(await page.evaluate(WIDER_THAN_THE_SCREEN)).toEqual([])
      expect(await page.evaluate(FAINT_TEXTS)).toEqual([])
      expect(await page.evaluate(HEADINGS)).toEqual(inOrder(await page.evaluate<string[]>(HEADINGS)))
      await page.locator('a[href="/key"]').click()
      await page.locator('#timeline rect.load').first().waitFor()
      await page.screenshot({ path: join(screenshots, `${name}-key.png`), fullPage: true })
      expect(await page.evaluate(WIDER_THAN_THE_SCREEN)).toEqual([])
      expect(await page.evaluate(FAINT_TEXTS)).toEqual([])
      await page.goBack()
      await page.locator('[data-side=cattlegrid] .lane').first().waitFor()
    },
  )

  test('loads nothing that its policy forbids, and has no error', () => {
    process.stdout.write(`\nScreenshots: ${screenshots}\n`)
    expect(complaints).toEqual([])
  })
})

let screenshots: string | undefined
