// Runs `cluster-apiserver testserver` as a child process.

import { type ChildProcess, spawn } from 'node:child_process'
import { after } from 'node:test'
import { commandPath } from '../../../../test/kit/paths.js'

/** The line that the command prints. */
interface TestserverLine {
  readonly url: string
  readonly ca: string
  readonly token: string
  readonly kubeconfig: string
  readonly testkit: { readonly url: string; readonly token: string }
  readonly pid: number
}

interface StartedTestserver {
  readonly child: ChildProcess
  readonly line: TestserverLine
  /** Everything printed until now. */
  stdout(): string
  readonly exited: Promise<number | null>
}

const children = new Set<ChildProcess>()
after(() => {
  for (const child of children) child.kill('SIGKILL')
})

/** Runs the command with a shell in between if `wrapper` is set: a script that starts `"$@"`. */
export function startTestserver(flags: readonly string[] = [], wrapper?: string): Promise<StartedTestserver> {
  const command = [process.execPath, commandPath, 'testserver', ...flags]
  const [file, ...args] = wrapper === undefined ? command : ['sh', '-c', wrapper, 'sh', ...command]
  const child = spawn(file as string, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  children.add(child)
  let stdout = ''
  let stderr = ''
  const exited = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)))
  void exited.then(() => children.delete(child))
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  return new Promise((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString()
      if (!stdout.includes('\n')) return
      try {
        resolve({ child, line: JSON.parse(stdout.slice(0, stdout.indexOf('\n'))), stdout: () => stdout, exited })
      } catch (thrown) {
        reject(thrown)
      }
    })
    void exited.then((code) => reject(new Error(`testserver ended with ${code}: ${stderr}`)))
  })
}
