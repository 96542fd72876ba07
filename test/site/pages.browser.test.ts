import type { Server } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Browser, chromium, type Page } from 'playwright-core'
import { findChromium } from '../../examples/product-api/test/chromium.ts'
import { serveSite } from './built-site.ts'

const pages = ['/', '/docs/http.html', '/docs/options.html', '/docs/redis.html', '/docs/errors.html'] as const
const PHONE = { width: 360, height: 760 }
/** A machine that is busy with something else is slow, not broken. */
const PATIENCE = 120_000
const DESKTOP = { width: 1280, height: 900 }

interface Violation {
  readonly id: string
  readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary: string }[]
}

const executablePath = findChromium()
if (executablePath === undefined)
  process.stdout.write(
    '\nSKIPPED: no Chromium. Install one, such as the Debian package chromium, or set CHROMIUM_PATH.\n',
  )
const onChromium = executablePath === undefined ? describe.skip : describe

onChromium('the site in a browser', () => {
  let server: Server
  let address: string
  let browser: Browser
  let page: Page

  beforeAll(async () => {
    ;({ server, address } = await serveSite())
    // Chromium refuses its sandbox to root, which is who runs the tests in a container.
    browser = await chromium.launch({ executablePath: executablePath ?? '', args: ['--no-sandbox', '--disable-gpu'] })
    page = await browser.newPage({ viewport: DESKTOP, reducedMotion: 'reduce' })
    page.setDefaultTimeout(PATIENCE)
  })

  afterAll(async () => {
    await browser?.close()
    server?.close()
  })

  async function open(path: string): Promise<void> {
    await page.goto(address + path)
    // The page answers to keys once it is mounted.
    await page.locator('.VPNavBarSearch button').first().waitFor()
  }

  async function violations(): Promise<string[]> {
    await page.addScriptTag({ path: require.resolve('axe-core/axe.min.js') })
    const found = (await page.evaluate(
      `axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'best-practice'] }).then(({ violations }) => violations)`,
    )) as Violation[]
    return found.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary}`),
    )
  }

  describe.each(pages)('%s', (path) => {
    test.each(['light', 'dark'] as const)(
      'has contrast, headings in order, and names for all that is operated: %s',
      async (colorScheme) => {
        await page.setViewportSize(DESKTOP)
        await page.emulateMedia({ colorScheme })
        await open(path)
        expect(await violations()).toEqual([])
        expect(await page.locator('h1').count()).toBe(1)
      },
    )

    test('needs no scrolling to the side on a phone, and a row of a table is a card there', async () => {
      await page.setViewportSize(PHONE)
      await open(path)
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(PHONE.width)
      const wide = `[...document.querySelectorAll('.vp-doc table, .vp-doc td, .expiry *')]
        .filter((one) => one.getBoundingClientRect().right > innerWidth || one.scrollWidth > one.clientWidth + 1 && one.tagName === 'TABLE')
        .map((one) => one.outerHTML.slice(0, 200))`
      expect(await page.evaluate(wide)).toEqual([])
      const labels = `getComputedStyle(document.querySelector('.vp-doc tbody td:nth-child(2)'), '::before').content`
      expect(await page.evaluate(labels)).toMatch(/\w/)
    })

    test('is read with the keyboard: Tab reaches the search, the navigation and the links, and shows where it is', async () => {
      await page.setViewportSize(DESKTOP)
      await open(path)
      const wanted = new Set(['.VPNavBarSearch', '.VPNavBarMenu', '.vp-doc'])
      for (let presses = 0; wanted.size > 0 && presses < 120; presses += 1) {
        await page.keyboard.press('Tab')
        for (const place of wanted) if (await isFocused(page, place)) wanted.delete(place)
        expect(await page.evaluate(focusIsVisible)).toBe('')
      }
      expect([...wanted]).toEqual([])
    })
  })

  test.each([
    ['ttl', '/docs/options.html'],
    ['tags', '/docs/http.html'],
    ['redis', '/docs/redis.html'],
    ['warm', '/docs/operations.html'],
    ['ioredis', '/docs/redis.html'],
  ])('finds %s by the keyboard alone', async (word, path) => {
    await page.setViewportSize(DESKTOP)
    await open('/')
    await page.keyboard.press('Control+k')
    await page.locator('.VPLocalSearchBox input').fill(word)
    await page.locator('.VPLocalSearchBox .result').first().waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL((url) => url.pathname !== '/')
    expect(new URL(page.url()).pathname).toBe(path)
  })

  test('plays one expiry where motion is welcome, and stands still where it is not', async () => {
    const still = await stepsSeen(page, address, 'reduce')
    expect(still).toEqual(['3'])
    const moving = await browser.newPage({ viewport: DESKTOP, reducedMotion: 'no-preference' })
    moving.setDefaultTimeout(PATIENCE)
    await moving.goto(address)
    await moving.locator('.expiry').scrollIntoViewIfNeeded()
    await moving.locator('.expiry button[aria-current]:has-text("2")').first().waitFor()
    await moving.locator('.expiry .play').click()
    expect(await moving.locator('.expiry .play').innerText()).toBe('Play')
    await moving.locator('.expiry .modes button').last().click()
    await moving.locator('.expiry .story button').nth(2).click()
    expect(await moving.locator('.expiry .stage .waits').count()).toBe(17)
    expect(await moving.locator('.expiry .count').innerText()).toBe('1 query')
    await moving.locator('.expiry .story button').nth(3).click()
    expect(await moving.locator('.expiry .stage .woken').count()).toBe(17)
    await moving.close()
  })
})

async function stepsSeen(page: Page, address: string, reducedMotion: 'reduce'): Promise<string[]> {
  await page.emulateMedia({ reducedMotion })
  await page.goto(address)
  await page.locator('.expiry .play').waitFor()
  return page.locator('.expiry button[aria-current] .number').allInnerTexts()
}

const isFocused = (page: Page, place: string): Promise<boolean> =>
  page.evaluate(`document.activeElement?.closest('${place}') != null`)

/** '' where the element with the focus has an outline or a border that others lack. */
const focusIsVisible = `(() => {
  const one = document.activeElement
  if (one === null || one === document.body) return ''
  const { outlineStyle, outlineWidth } = getComputedStyle(one)
  return outlineStyle !== 'none' && parseFloat(outlineWidth) >= 1 ? '' : one.outerHTML.slice(0, 200)
})()`
