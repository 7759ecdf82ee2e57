// Pool of processes that run clusterctl commands for tests, at a tenth of the cost of one new process per command.

import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import { after } from 'node:test'
import type { Output } from '../../../test/clients/obtain.js'
import { repoRoot } from '../../../test/kit/paths.js'
import type { CommandOutput } from './run-in-process.js'

export interface Job {
  readonly args: readonly string[]
  readonly stdin: string
  readonly environment: NodeJS.ProcessEnv
}

export class ClusterctlProcesses {
  /** Processes without a command. Concurrent commands run in separate processes, because a command may wait for another. */
  private readonly idle: ChildProcess[] = []
  private readonly all = new Set<ChildProcess>()

  constructor() {
    after(() => {
      for (const child of this.all) child.kill('SIGKILL')
    })
  }

  async run(job: Job, timeoutMs = 60_000): Promise<Output> {
    const child = this.idle.pop() ?? this.start()
    const output = await runJob(child, job, timeoutMs)
    if (output === undefined) {
      this.all.delete(child)
      return { code: null, stdout: '', stderr: `clusterctl ${job.args.join(' ')} took too long` }
    }
    this.idle.push(child)
    return output
  }

  /** `run` with separate parameters, as the test class `Kubectl` calls it. */
  readonly perform = (args: readonly string[], stdin: string, environment: NodeJS.ProcessEnv): Promise<Output> =>
    this.run({ args, stdin, environment })

  private start(): ChildProcess {
    const child = fork(join(repoRoot, '.build', 'packages', 'cli', 'test', 'clusterctl-process.js'), { env: { PATH: process.env['PATH'] } })
    this.all.add(child)
    return child
  }
}

/** Returns undefined if the process exits or exceeds the timeout. */
function runJob(child: ChildProcess, job: Job, timeoutMs: number): Promise<CommandOutput | undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs)
    const end = (output?: CommandOutput): void => {
      clearTimeout(timer)
      child.off('message', onMessage)
      child.off('exit', onExit)
      resolve(output)
    }
    const onMessage = (output: unknown): void => end(output as CommandOutput)
    const onExit = (): void => end()
    child.on('message', onMessage)
    child.on('exit', onExit)
    child.send(job)
  })
}
