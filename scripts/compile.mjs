// Runs the compiler on a project, `node scripts/compile.mjs tsconfig.json`: it does not live long enough for its collector of garbage to pay,
// which takes a third of its time.
//
// Tools and tests are compiled against the declarations of what is built, and find the code itself under `.build/src`, which leads to `dist`: it
// is neither checked nor written twice.

import { spawnSync } from 'node:child_process'
import { lstatSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const [project] = process.argv.slice(2)

if (project === 'tsconfig.tools.json') {
  const sources = `${root}.build/src`
  if (lstatSync(sources, { throwIfNoEntry: false })?.isSymbolicLink() !== true) {
    rmSync(sources, { recursive: true, force: true })
    mkdirSync(`${root}.build`, { recursive: true })
    symlinkSync('../dist', sources, 'dir')
  }
}

const { status } = spawnSync(process.execPath, [`${root}node_modules/typescript/bin/tsc`, '-p', `${root}${project}`], {
  stdio: 'inherit',
  env: { ...process.env, GOGC: 'off' },
})
process.exit(status ?? 1)
