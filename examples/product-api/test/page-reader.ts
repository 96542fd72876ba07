import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from '@jest/globals'
import type { Locator, Page } from 'playwright-core'
import { STRATEGIES, type StrategyName } from '../src/strategies/strategy.ts'

const POLL_MS = 50

export interface PageReader {
  readonly until: (holds: () => Promise<boolean> | boolean) => Promise<void>
  readonly figure: (side: StrategyName, name: string) => Promise<number>
  /** The processes of a side, or those in this state. */
  readonly lanes: (side: StrategyName, state?: string) => Locator
  readonly allUp: (count: number) => () => Promise<boolean>
  /** Presses a button, and returns the line that it adds to the log. */
  readonly press: (id: string) => Promise<string>
  /** Presses it again, and checks that it is as it was. */
  readonly restore: (id: string) => Promise<void>
  /** The number of the last line of the log. */
  readonly lastLine: () => Promise<number>
  /** Waits until the figures of a press are counted; returns its sentence. */
  readonly toldFigures: () => Promise<string>
  /** The processes of all sides in this state. */
  readonly pidsOf: (state: string) => Promise<number[]>
}

/** What a test reads and presses on the page of the demo. */
export function readerOf(page: () => Page): PageReader {
  async function until(holds: () => Promise<boolean> | boolean): Promise<void> {
    while (!(await holds())) await sleep(POLL_MS)
  }

  async function figure(side: StrategyName, name: string): Promise<number> {
    const text = await page().locator(`[data-side=${side}] [data-figure=${name}]`).innerText()
    return Number(text.replaceAll(',', ''))
  }

  const lanes = (side: StrategyName, state?: string) =>
    page().locator(`[data-side=${side}] .lane${state === undefined ? '' : `[data-state=${state}]`}`)

  const allUp = (count: number) => async (): Promise<boolean> => {
    const counts = await Promise.all(STRATEGIES.map((side) => lanes(side, 'up').count()))
    return counts.every((each) => each === count)
  }

  async function press(id: string): Promise<string> {
    const button = page().locator(`[data-action=${id}]:not([data-state=running])`)
    await button.waitFor()
    const before = await lastLine()
    await button.click()
    await until(async () => (await lastLine()) > before)
    const line = await page().locator('#log li').first().innerText()
    expect(line).not.toContain('failed:')
    return line
  }

  async function lastLine(): Promise<number> {
    const lines = page().locator('#log li')
    return (await lines.count()) === 0 ? 0 : Number(await lines.first().getAttribute('data-line'))
  }

  async function toldFigures(): Promise<string> {
    const sentence =
      /: \S+ (?:further )?loads?, nobody waited longer than \d+\.\d+ s.*\. The naive lock: \S+ .*\d+\.\d+ s/
    await until(async () => sentence.test(await page().locator('#told').innerText()))
    return await page().locator('#told').innerText()
  }

  async function pidsOf(state: string): Promise<number[]> {
    const names = await page().locator(`.lane[data-state=${state}] strong`).allInnerTexts()
    return names.map((name) => Number(name.replace('process ', '')))
  }

  async function restore(id: string): Promise<void> {
    expect(await page().locator(`[data-action=${id}]`).getAttribute('aria-pressed')).toBe('true')
    await press(id)
    expect(await page().locator(`[data-action=${id}]`).getAttribute('aria-pressed')).toBe('false')
  }

  return { until, figure, lanes, allUp, press, restore, lastLine, toldFigures, pidsOf }
}
