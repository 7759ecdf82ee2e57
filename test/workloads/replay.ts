// Replays recorded scenarios of kube-controller-manager and kube-scheduler against a new server with --controllers=*,workloads.

import { spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { repoRoot } from '../kit/paths.js'
import { newFolder, ServerProcess } from '../kit/server-process.js'

/** Folder with `run.mjs`, `scenarios` and `golden`: `WORKLOADS_ROOT`, by default next to the repository. */
export function findScenarios(): string | undefined {
  const root = process.env['WORKLOADS_ROOT'] ?? join(repoRoot, '..', 'shared', 'workloads')
  return existsSync(join(root, 'run.mjs')) ? root : undefined
}

interface WorkloadReplay {
  readonly root: string
  /** More arguments of `run.mjs`, such as `--filter`. */
  readonly arguments?: readonly string[]
  readonly print?: (text: string) => void
}

interface WorkloadReport {
  readonly output: string
  /** 0: every observation matches. */
  readonly code: number | null
}

export async function replayWorkloads({ root, arguments: more = [], print }: WorkloadReplay): Promise<WorkloadReport> {
  const dataDir = newFolder()
  try {
    const server = await ServerProcess.start({ dataDir, flags: ['--identity=kubernetes', '--controllers=*,workloads'] })
    try {
      const token = readFileSync(join(dataDir, 'pki', 'admin.token'), 'utf8').trim()
      return await run([join(root, 'run.mjs'), '--server', server.url, '--token', token, ...more], print)
    } finally {
      await server.stop()
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

function run(argv: readonly string[], print: WorkloadReplay['print']): Promise<WorkloadReport> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, argv, {
      env: { ...process.env, NODE_TEST_CONTEXT: undefined },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const kill = (): boolean => child.kill('SIGKILL')
    process.once('exit', kill)
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString()
        print?.(chunk.toString())
      })
    child.on('error', reject)
    child.on('close', (code) => {
      process.off('exit', kill)
      resolve({ output, code })
    })
  })
}
