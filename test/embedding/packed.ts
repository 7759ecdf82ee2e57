// The package as published, installed into a folder without a compiler and without this repository.

import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cacheFolder, type Obtained, obtain, runToEnd, withExtraCa } from '../clients/obtain.js'
import { repoRoot } from '../kit/paths.js'

const runners = ['vitest@4', 'jest@29']

/** Fails fast without network; install scripts run. */
const flags = [
  '--no-audit',
  '--no-fund',
  '--loglevel=error',
  '--fetch-retries=1',
  '--fetch-retry-mintimeout=1000',
  '--fetch-retry-maxtimeout=5000',
]

async function npm(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const { code, stdout, stderr } = await runToEnd('npm', args, { cwd, env: withExtraCa(env) })
  if (code !== 0) throw new Error(`npm ${args[0]}: ${stderr.trim().split('\n').at(0)}`)
  return stdout
}

/** Environment with compilers that fail and record the call. */
function withoutCompiler(folder: string): NodeJS.ProcessEnv {
  const bin = join(folder, 'no-compiler')
  mkdirSync(bin)
  for (const name of ['cc', 'gcc', 'g++', 'c++', 'clang', 'make', 'cmake', 'node-gyp', 'python', 'python3']) {
    writeFileSync(join(bin, name), `#!/bin/sh\necho ${name} >> ${join(folder, 'compiler-calls')}\nexit 1\n`)
    chmodSync(join(bin, name), 0o755)
  }
  return { ...process.env, PATH: `${bin}:${process.env['PATH']}` }
}

let packed: Promise<Obtained> | undefined

/** Folder with the installed package, shared by all files of this process. */
export const obtainPacked = (): Promise<Obtained> => {
  packed ??= pack()
  return packed
}

const pack = (): Promise<Obtained> =>
  obtain('the packed package', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'packed-'))
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
    await npm(['pack', '--ignore-scripts', '--pack-destination', folder], repoRoot)
    const archive = readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? ''
    writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
    await npm(['install', '--prefer-offline', ...flags, join(folder, archive)], folder, withoutCompiler(folder))
    return folder
  })

/** Installs the test runners of the examples, cached; `path` is the folder of their commands. */
export const obtainRunners = (): Promise<Obtained> =>
  obtain(runners.join(' and '), async () => {
    const folder = join(cacheFolder, `runners-${runners.join('-').replaceAll('@', '')}`)
    const commands = join(folder, 'node_modules', '.bin')
    if (existsSync(commands)) return commands
    const draft = mkdtempSync(join(cacheFolder, 'runners-draft-'))
    writeFileSync(join(draft, 'package.json'), '{ "private": true }\n')
    await npm(['install', '--prefer-offline', '--ignore-scripts', ...flags, ...runners], draft)
    if (!existsSync(commands)) renameSync(draft, folder)
    return commands
  })
