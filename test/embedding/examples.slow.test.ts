// The examples are run as their readers would run them: with the published package, each with its own test runner and client. EXAMPLES=all
// installs what is missing of other languages.

import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { goTools, obtainGo } from '../clients/obtain-go.js'
import { obtainKubectl } from '../clients/obtain-kubectl.js'
import { obtainPython } from '../clients/obtain-python.js'
import { install, type Obtained, obtain, runToEnd } from '../clients/obtaining.js'
import { repoRoot } from '../kit/paths.js'
import { obtainPacked, obtainRunners } from './packed.js'

const packed = await obtainPacked()
const examples = join(packed.path, 'examples')
const runners = obtainRunners()

/** What a package of the distribution brings, installed where that can be. */
const fromDebian = (names: readonly string[], isThere: () => Promise<boolean>): Promise<Obtained> =>
  obtain(names.join(' and '), async () => {
    if (await isThere()) return ''
    // A compiler and its libraries are hundreds of megabytes.
    if (process.env['EXAMPLES'] !== 'all') throw new Error('EXAMPLES=all installs it')
    if (process.getuid?.() !== 0) throw new Error('it is not installed, and installing it needs root')
    await install('apt-get', ['install', '--yes', '--quiet', '--no-install-recommends', ...names])
    if (!(await isThere())) throw new Error('it was installed, but cannot be used')
    return ''
  })

const succeeds = async (command: string, args: readonly string[]): Promise<boolean> => (await runToEnd(command, args)).code === 0

const tried: string[] = []

describe('the examples', { skip: packed.skip }, () => {
  if (packed.skip === false) cpSync(join(repoRoot, 'examples'), examples, { recursive: true })
  const env = { ...process.env, CLUSTER_APISERVER: join(packed.path, 'node_modules', '.bin', 'cluster-apiserver') }
  const passes = async (
    command: string,
    args: readonly string[],
    prints: RegExp,
    cwd = packed.path,
    patienceMs = 180_000,
  ): Promise<void> => {
    const { NODE_TEST_CONTEXT: _, ...rest } = env as NodeJS.ProcessEnv
    const { code, stdout, stderr } = await runToEnd(command, args, { cwd, patienceMs, env: { ...rest, CI: '1', NO_COLOR: '1' } })
    assert.equal(code, 0, `${stdout}\n${stderr}`)
    assert.match(`${stdout}${stderr}`, prints)
  }

  test('node-test', async () => {
    tried.push('node-test')
    await passes(process.execPath, ['--test', 'examples/node-test/shop.test.mjs'], /# pass 3\n|pass 3/)
  })

  test('vitest', async (context) => {
    tried.push('vitest')
    const { skip, path } = await runners
    if (skip !== false) return context.skip(skip)
    symlinkSync(join(path, '..', 'vitest'), join(packed.path, 'node_modules', 'vitest'))
    await passes(join(path, 'vitest'), ['run', 'examples/vitest'], /Tests\s+3 passed/)
  })

  test('jest', async (context) => {
    tried.push('jest')
    const { skip, path } = await runners
    if (skip !== false) return context.skip(skip)
    await passes(join(path, 'jest'), ['examples/jest'], /Tests:\s+4 passed/)
  })

  test('pytest', async (context) => {
    tried.push('pytest')
    const python = await obtainPython()
    if (python.skip !== false) return context.skip(python.skip)
    const { skip } = await fromDebian(['python3-pytest'], () => succeeds(python.path, ['-c', 'import pytest']))
    if (skip !== false) return context.skip(skip)
    await passes(python.path, ['-B', '-m', 'pytest', '-p', 'no:cacheprovider', 'examples/pytest'], /3 passed/)
  })

  test('go', async (context) => {
    tried.push('go')
    const { skip, path } = await obtainGo(process.env['EXAMPLES'] === 'all')
    if (skip !== false) return context.skip(skip)
    const { command, environment, workplace } = goTools(path)
    const folder = mkdtempSync(join(workplace, 'example-'))
    context.after(() => rmSync(folder, { recursive: true, force: true }))
    cpSync(join(examples, 'go'), folder, { recursive: true })
    Object.assign(env, environment)
    // The first time, client-go is compiled, too.
    await passes(command, ['test', './...'], /ok/, folder, 1_800_000)
  })

  test('shell', async (context) => {
    tried.push('shell')
    const kubectl = await obtainKubectl()
    if (kubectl.skip !== false) return context.skip(kubectl.skip)
    Object.assign(env, { KUBECTL: kubectl.path })
    await passes('sh', ['examples/shell/shop.sh'], /the shop is open/)
  })

  test('there is no example that is not run', () => {
    const folders = readdirSync(join(repoRoot, 'examples'), { withFileTypes: true }).filter((entry) => entry.isDirectory())
    assert.deepEqual(folders.map(({ name }) => name).sort(), tried.sort())
  })
})
