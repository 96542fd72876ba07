// Runs of jest in one copy of the tree, each of which may hang: without some guards a loop has no end.
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { projectOf } from './table.mjs'

const worker = fileURLToPath(import.meta.resolve('./jest-worker.mjs'))
/** A run that takes longer has no end, ms. It proves nothing: on a busy machine a sound one may be as slow. */
const longest = 120_000
/** Each run leaves a little behind in its process. */
const runsPerProcess = 25

/** @typedef {({ kind: 'green' } | { kind: 'red', title: string } | { kind: 'broken', why: string }) & { files: string[] }} Verdict   `files`: those that are not green */

export class TestRunner {
  #folder
  #child
  #runs = 0

  constructor(folder) {
    this.#folder = folder
  }

  /** Runs these tests, of one project. @param {{ tests: string[], titles?: string }} chosen @returns {Promise<Verdict>} */
  async run({ tests, titles }, { mutated }) {
    const project = projectOf(tests[0])
    if (this.#runs === runsPerProcess) this.stop()
    this.#runs += 1
    this.#child ??= fork(worker, { cwd: this.#folder, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
    const verdict = await answerOf(this.#child, { tests, titles, project, mutated }, mutated ? longest : 5 * longest)
    if (verdict.lost === true) this.stop()
    return verdict
  }

  stop() {
    this.#child?.kill('SIGKILL')
    this.#child = undefined
    this.#runs = 0
  }
}

function answerOf(child, question, limit) {
  return new Promise((resolve) => {
    const settle = (verdict) => {
      clearTimeout(timer)
      child.off('message', settle).off('exit', died)
      resolve(verdict)
    }
    const died = (code, signal) =>
      settle({ kind: 'broken', why: `jest ended with ${signal ?? code}`, files: question.tests, lost: true })
    const timer = setTimeout(
      () => settle({ kind: 'broken', why: 'the run did not end', files: question.tests, lost: true }),
      limit,
    )
    child.on('message', settle).on('exit', died)
    child.send(question)
  })
}
