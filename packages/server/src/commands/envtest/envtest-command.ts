// The command envtest: a folder for KUBEBUILDER_ASSETS with kube-apiserver, etcd and kubectl, scripts that run this package.

import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type CommandOutput, runCommand } from '../command-process.js'
import { shellQuote } from '../shell-quote.js'

const usage = `usage: cluster-apiserver envtest [<folder>]

Writes the commands that envtest starts (API server, etcd and kubectl) to the folder: scripts that run this installation of cluster-apiserver.
Prints the path of the folder, the value of KUBEBUILDER_ASSETS. Without an argument, prints the folder of the package that has the same commands.

  export KUBEBUILDER_ASSETS="$(npx cluster-apiserver envtest)"

Run it again after Node.js or the package moved to another path.

Exit codes: 0 success, 1 failure, 2 invalid command line.
`

/** Relative to dist/bundle. */
const packagedFolder = (): string => fileURLToPath(new URL('../../envtest', import.meta.url))

export function runEnvtestCommand(args: readonly string[], output: CommandOutput): Promise<number> {
  const run = async (folder: string | undefined): Promise<undefined> => {
    if (folder !== undefined) writeScripts(folder)
    output.print(`${folder ?? packagedFolder()}\n`)
  }
  return runCommand({ name: 'envtest', usage, read: readArguments, run }, args, output)
}

/** Undefined without an argument. */
function readArguments([folder, ...otherArgs]: readonly string[]): string | undefined {
  const unexpected = folder === '' || folder?.startsWith('-') ? folder : otherArgs[0]
  if (unexpected !== undefined) throw new Error(`unexpected argument ${JSON.stringify(unexpected)}`)
  return folder === undefined ? undefined : resolve(folder)
}

/** Copies the scripts of the package, with the path of Node.js: test runners of editors often have another PATH. */
function writeScripts(folder: string): void {
  const packaged = packagedFolder()
  mkdirSync(folder, { recursive: true })
  for (const name of readdirSync(packaged).filter((file) => !file.includes('.'))) {
    const command = `exec ${shellQuote(process.execPath)} ${shellQuote(join(packaged, 'run.js'))}`
    const script = readFileSync(join(packaged, name), 'utf8').replace(/^exec node "[^"]*"/m, () => command)
    // Renamed, so that tests that run keep their commands, and a link to another program is replaced, not followed.
    const written = join(folder, `.${name}-${process.pid}`)
    writeFileSync(written, script)
    chmodSync(written, 0o755)
    renameSync(written, join(folder, name))
  }
}
