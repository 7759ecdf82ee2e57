// Processes that compete with the server for one CPU: sleepers that wake up all the time, and busy loops that can be paused.

import { type ChildProcess, spawn } from 'node:child_process'

/** Sleeps for 30 µs again and again: every wake-up preempts another thread of the CPU. */
const sleeper = 'Atomics.wait(cell, 0, 0, 0.03)'
const busyLoop = ''
/** Program that repeats `step`, and ends when its parent process has ended for any reason. */
const loopScript = (step: string): string =>
  `const parent = process.ppid, cell = new Int32Array(new SharedArrayBuffer(4)); while (process.ppid === parent) for (let i = 0; i < 10000; i++) { ${step} }`

export class Contention {
  readonly #children: ChildProcess[] = []

  addSleepers(processor: number): void {
    for (let i = 0; i < 2; i++) this.#spawn(processor, sleeper)
  }

  addBusyLoop(processor: number): BusyLoop {
    const child = this.#spawn(processor, busyLoop)
    child.kill('SIGSTOP')
    return { resume: () => void child.kill('SIGCONT'), pause: () => void child.kill('SIGSTOP') }
  }

  close(): void {
    for (const child of this.#children) child.kill('SIGKILL')
  }

  #spawn(processor: number, step: string): ChildProcess {
    // taskset replaces itself with the command, so that the process id is that of the loop.
    const child = spawn('taskset', ['-c', String(processor), process.execPath, '-e', loopScript(step)], { stdio: 'ignore' })
    this.#children.push(child)
    return child
  }
}

export interface BusyLoop {
  readonly resume: () => void
  readonly pause: () => void
}
