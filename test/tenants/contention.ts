// Processes that compete with the server for one CPU: sleepers that wake up all the time, and busy loops that can be paused.

import { type ChildProcess, spawn } from 'node:child_process'

/** Sleeps for 30 µs again and again: every wake-up preempts another thread of the CPU. */
const sleeper = 'const cell = new Int32Array(new SharedArrayBuffer(4)); for (;;) Atomics.wait(cell, 0, 0, 0.03)'
const busyLoop = 'for (;;);'
/** The processes end by themselves where this one cannot end them. */
const longestSeconds = 7200

export class Contention {
  readonly #children: ChildProcess[] = []

  /** Two sleepers on the CPU. */
  addSleepers(processor: number): void {
    for (let i = 0; i < 2; i++) this.#spawn(processor, sleeper)
  }

  /** A busy loop on the CPU, paused until it is used. */
  addBusyLoop(processor: number): BusyLoop {
    const child = this.#spawn(processor, busyLoop)
    child.kill('SIGSTOP')
    return { go: () => void child.kill('SIGCONT'), pause: () => void child.kill('SIGSTOP') }
  }

  close(): void {
    for (const child of this.#children) child.kill('SIGKILL')
  }

  #spawn(processor: number, script: string): ChildProcess {
    const command = ['-c', String(processor), 'timeout', String(longestSeconds), process.execPath, '-e', script]
    const child = spawn('taskset', command, { stdio: 'ignore' })
    this.#children.push(child)
    return child
  }
}

export interface BusyLoop {
  readonly go: () => void
  readonly pause: () => void
}
