// Runs clusterctl for tests that look at what it prints and how it ends, in processes that are kept for the next command. What is about the
// process itself, its streams, signals and colours, starts one.

import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import { after } from 'node:test'
import type { Output } from '../clients/obtaining.js'
import { repoRoot } from '../kit/paths.js'
import type { Said } from './run-here.js'

export interface Job {
  readonly words: readonly string[]
  readonly stdin: string
  readonly environment: NodeJS.ProcessEnv
}

export class KeptCommands {
  /** A command may wait for what another one does, so each has a process to itself. */
  private readonly idle: ChildProcess[] = []
  private readonly all = new Set<ChildProcess>()

  constructor() {
    after(() => {
      for (const child of this.all) child.kill('SIGKILL')
    })
  }

  async run(job: Job, patienceMs = 60_000): Promise<Output> {
    const child = this.idle.pop() ?? this.start()
    const said = await answerOf(child, job, patienceMs)
    if (said === undefined) {
      this.all.delete(child)
      return { code: null, stdout: '', stderr: `clusterctl ${job.words.join(' ')} took too long` }
    }
    this.idle.push(child)
    return said
  }

  /** The same, as `Kubectl` wants it. */
  readonly perform = (words: readonly string[], stdin: string, environment: NodeJS.ProcessEnv): Promise<Output> =>
    this.run({ words, stdin, environment })

  private start(): ChildProcess {
    const child = fork(join(repoRoot, '.build', 'test', 'cli', 'kept-command.js'), { env: { PATH: process.env['PATH'] } })
    this.all.add(child)
    return child
  }
}

/** Undefined when it takes too long, or ends. */
function answerOf(child: ChildProcess, job: Job, patienceMs: number): Promise<Said | undefined> {
  return new Promise((resolve) => {
    const late = setTimeout(() => child.kill('SIGKILL'), patienceMs)
    const end = (said?: Said): void => {
      clearTimeout(late)
      child.off('message', hear)
      child.off('exit', lose)
      resolve(said)
    }
    const hear = (said: unknown): void => end(said as Said)
    const lose = (): void => end()
    child.on('message', hear)
    child.on('exit', lose)
    child.send(job)
  })
}
