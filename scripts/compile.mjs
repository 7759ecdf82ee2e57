// Runs the compiler, without garbage collection, which would take a third of its time: `node scripts/compile.mjs tsconfig.json` for the
// packages in the order of their references, `tsconfig.tools.json` for tests and tools.
//
// Tests and tools use the declarations of the packages; at run time `.build/packages/<name>/src` is a link to `packages/<name>/dist`.

import { spawnSync } from 'node:child_process'
import { lstatSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const [project] = process.argv.slice(2)
const isTools = project === 'tsconfig.tools.json'

for (const name of isTools ? readdirSync(`${root}packages`) : []) {
  const sources = `${root}.build/packages/${name}/src`
  if (lstatSync(sources, { throwIfNoEntry: false })?.isSymbolicLink() === true) continue
  rmSync(sources, { recursive: true, force: true })
  mkdirSync(`${root}.build/packages/${name}`, { recursive: true })
  symlinkSync(`../../../packages/${name}/dist`, sources, 'dir')
}

const { status } = spawnSync(process.execPath, [`${root}node_modules/typescript/bin/tsc`, isTools ? '-p' : '-b', `${root}${project}`], {
  stdio: 'inherit',
  env: { ...process.env, GOGC: 'off' },
})
process.exit(status ?? 1)
