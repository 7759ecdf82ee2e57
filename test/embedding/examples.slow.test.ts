// Runs the examples with the published package, each with its own test runner and client. EXAMPLES=all installs missing tools of
// other languages.

import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { install, type Obtained, obtain, runToEnd } from '../clients/obtain.js'
import { goTools, obtainGo } from '../clients/obtain-go.js'
import { obtainKubectl } from '../clients/obtain-kubectl.js'
import { obtainPython } from '../clients/obtain-python.js'
import { repoRoot } from '../kit/paths.js'
import { obtainPacked, obtainRunners } from './packed.js'

const packed = await obtainPacked()
const examples = join(packed.path, 'examples')
const runners = obtainRunners()

/** A command of a distribution package, installed if possible. */
const fromDebian = (names: readonly string[], isInstalled: () => Promise<boolean>): Promise<Obtained> =>
  obtain(names.join(' and '), async () => {
    if (await isInstalled()) return ''
    // Only on request: hundreds of megabytes.
    if (process.env['EXAMPLES'] !== 'all') throw new Error('EXAMPLES=all installs it')
    if (process.getuid?.() !== 0) throw new Error('it is not installed, and installing it needs root')
    await install('apt-get', ['install', '--yes', '--quiet', '--no-install-recommends', ...names])
    if (!(await isInstalled())) throw new Error('it was installed, but cannot be used')
    return ''
  })

const succeeds = async (command: string, args: readonly string[]): Promise<boolean> => (await runToEnd(command, args)).code === 0

const testedExamples: string[] = []

describe('examples', { skip: packed.skip }, () => {
  if (packed.skip === false) cpSync(join(repoRoot, 'examples'), examples, { recursive: true })
  const env = { ...process.env, CLUSTER_APISERVER: join(packed.path, 'node_modules', '.bin', 'cluster-apiserver') }
  const expectSuccess = async (
    command: string,
    args: readonly string[],
    prints: RegExp,
    cwd = packed.path,
    timeoutMs = 180_000,
  ): Promise<void> => {
    const { NODE_TEST_CONTEXT: _, ...rest } = env as NodeJS.ProcessEnv
    const { code, stdout, stderr } = await runToEnd(command, args, { cwd, timeoutMs, env: { ...rest, CI: '1', NO_COLOR: '1' } })
    assert.equal(code, 0, `${stdout}\n${stderr}`)
    assert.match(`${stdout}${stderr}`, prints)
  }

  test('node-test', async () => {
    testedExamples.push('node-test')
    await expectSuccess(process.execPath, ['--test', 'examples/node-test/shop.test.mjs'], /# pass 3\n|pass 3/)
  })

  test('vitest', async (context) => {
    testedExamples.push('vitest')
    const { skip, path } = await runners
    if (skip !== false) return context.skip(skip)
    symlinkSync(join(path, '..', 'vitest'), join(packed.path, 'node_modules', 'vitest'))
    await expectSuccess(join(path, 'vitest'), ['run', 'examples/vitest'], /Tests\s+3 passed/)
  })

  test('jest', async (context) => {
    testedExamples.push('jest')
    const { skip, path } = await runners
    if (skip !== false) return context.skip(skip)
    await expectSuccess(join(path, 'jest'), ['examples/jest'], /Tests:\s+4 passed/)
  })

  test('pytest', async (context) => {
    testedExamples.push('pytest')
    const python = await obtainPython()
    if (python.skip !== false) return context.skip(python.skip)
    const { skip } = await fromDebian(['python3-pytest'], () => succeeds(python.path, ['-c', 'import pytest']))
    if (skip !== false) return context.skip(skip)
    await expectSuccess(python.path, ['-B', '-m', 'pytest', '-p', 'no:cacheprovider', 'examples/pytest'], /3 passed/)
  })

  test('go', async (context) => {
    testedExamples.push('go')
    const { skip, path } = await obtainGo(process.env['EXAMPLES'] === 'all')
    if (skip !== false) return context.skip(skip)
    const { command, environment, workspace } = goTools(path)
    const folder = mkdtempSync(join(workspace, 'example-'))
    context.after(() => rmSync(folder, { recursive: true, force: true }))
    cpSync(join(examples, 'go'), folder, { recursive: true })
    Object.assign(env, environment)
    // The first run compiles client-go.
    await expectSuccess(command, ['test', './...'], /ok/, folder, 1_800_000)
  })

  test('go-envtest', async (context) => {
    testedExamples.push('go-envtest')
    const { skip } = await fromDebian(['golang-go'], () => succeeds('go', ['version']))
    if (skip !== false) return context.skip(skip)
    Object.assign(env, { KUBEBUILDER_ASSETS: join(packed.path, 'node_modules', 'cluster-apiserver', 'envtest') })
    await expectSuccess('go', ['test', '-count=1', 'envtest_test.go'], /ok/, join(examples, 'go-envtest'), 600_000)
  })

  test('shell', async (context) => {
    testedExamples.push('shell')
    const kubectl = await obtainKubectl()
    if (kubectl.skip !== false) return context.skip(kubectl.skip)
    Object.assign(env, { KUBECTL: kubectl.path })
    await expectSuccess('sh', ['examples/shell/shop.sh'], /the shop is open/)
  })

  test('testkit', async (context) => {
    testedExamples.push('testkit')
    const folderOf = (language: string): string => join(examples, 'testkit', language)
    for (const { language, needs, run } of [
      { language: 'python', needs: ['python3'], run: 'python3 -B -m unittest' },
      { language: 'go', needs: ['go'], run: 'GO111MODULE=off go test -count=1 testkit.go testkit_test.go' },
      { language: 'java', needs: ['javac', 'java'], run: 'javac -d out Testkit.java ShopTest.java && java -cp out ShopTest' },
      { language: 'shell', needs: ['curl', 'jq'], run: 'sh shop.sh' },
    ]) {
      await context.test(language, async (inner) => {
        const missing = (await Promise.all(needs.map((name) => succeeds('which', [name])))).indexOf(false)
        if (missing >= 0) return inner.skip(`${needs[missing]} is not installed`)
        await expectSuccess('sh', ['-c', run], /ok|the shop is open/i, folderOf(language))
      })
    }
  })

  test('every example is tested', () => {
    const folders = readdirSync(join(repoRoot, 'examples'), { withFileTypes: true }).filter((entry) => entry.isDirectory())
    assert.deepEqual(folders.map(({ name }) => name).sort(), testedExamples.sort())
  })
})
