// The published package: installs without a compiler, is small, runs as command and library (ESM and CommonJS), and has valid types.

import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { runToEnd } from '../clients/obtain.js'
import { repoRoot } from '../kit/paths.js'
import { obtainPacked } from './packed.js'

const packed = await obtainPacked()
const pathIn = (...names: readonly string[]): string => join(packed.path, ...names)

interface Lock {
  readonly packages: { readonly [path: string]: { readonly optional?: boolean } }
}

describe('published package', { skip: packed.skip }, () => {
  test('needs no compiler, and has at most 45 MB and 30 packages', () => {
    assert.ok(!existsSync(pathIn('compiler-calls')))
    const { packages } = JSON.parse(readFileSync(pathIn('node_modules', '.package-lock.json'), 'utf8')) as Lock
    assert.ok(Object.keys(packages).length <= 30, Object.keys(packages).join(' '))
    let blocks = 0
    for (const name of readdirSync(pathIn('node_modules'), { recursive: true, encoding: 'utf8' }))
      blocks += statSync(pathIn('node_modules', name), { throwIfNoEntry: false })?.blocks ?? 0
    assert.ok(blocks * 512 <= 45e6, `${(blocks * 512) / 1e6} MB`)
  })

  test('contains no tests, sources or tools', () => {
    const names = readdirSync(pathIn('node_modules', 'cluster-apiserver'), { recursive: true, encoding: 'utf8' })
    assert.deepEqual(
      names.filter((name) => /\.test\.|\.fixture\.|\.contract\.|tsbuildinfo|^src|^test|(?<!\.d)\.ts$/.test(name)),
      [],
    )
  })

  test('the command runs, with its code cache', async () => {
    const { stdout, code } = await runToEnd(pathIn('node_modules', '.bin', 'cluster-apiserver'), ['--version'])
    assert.equal(code, 0)
    assert.match(stdout, /^cluster-apiserver \d/)
    for (const name of ['clusterctl.cache', 'server.cache'])
      assert.ok(existsSync(pathIn('node_modules', 'cluster-apiserver', 'dist', 'bundle', name)), name)
    const { stdout: other } = await runToEnd(pathIn('node_modules', '.bin', 'clusterctl'), ['version', '--client'])
    assert.match(other, /^Client Version: \d/)
  })

  const programBody = `
    const server = await startServer({ objects: [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }] })
    await server.reset()
    const kept = await startServer({ dataDir: process.argv[2] })
    const client = connect({ text: kept.clientConfiguration })
    const missing = await client.core.v1.configMaps('default').get('missing').catch((thrown) => thrown)
    client.close()
    await Promise.all([server.close(), kept.close()])
    console.log(isNotFound(missing) ? 'done' : missing)`
  for (const [name, program] of [
    [
      'by-import.mjs',
      `import { startServer } from 'cluster-apiserver'\nimport { connect, isNotFound } from 'cluster-apiserver/client'\n${programBody}`,
    ],
    [
      'by-require.cjs',
      `const { startServer } = require('cluster-apiserver')\nconst { connect, isNotFound } = require('cluster-apiserver/client')
      ;(async () => {${programBody}\n})()`,
    ],
  ] as const) {
    test(`servers in memory and on disk run in ${name.replace('-', ' ').slice(0, -4)}`, async () => {
      writeFileSync(pathIn(name), program)
      const { stdout, stderr } = await runToEnd(process.execPath, [pathIn(name), pathIn(`data-${name}`)])
      assert.equal(`${stderr}${stdout}`, 'done\n')
    })
  }

  test('types pass the strictest compiler settings, for ESM and CommonJS', async () => {
    const folder = pathIn('types')
    mkdirSync(folder)
    const program = `
      import { type Access, type EmbeddedServer, type EtcdLocation, type FirstObject, type IdentityName, type LogFields, type Logger, type ObjectValue,
        type RunningServer, type ServerOptions, startServer } from 'cluster-apiserver'
      import { type ApiObject, Collection, connect, type DynamicObject, Informer, isNotFound, ObjectStore, StatusError, type TypedClient,
        type ValueStream, type WatchEvent } from 'cluster-apiserver/client'
      interface Ware extends ApiObject { readonly size?: number }
      export async function ask(): Promise<string> {
        const client: TypedClient = connect({ text: '' })
        const wares: Collection<Ware> = await client.ofKind<Ware>('example.com/v1', 'Ware')
        const informer: Informer<Ware> = wares.inform()
        const store: ObjectStore<Ware> = informer.store
        const events: ValueStream<WatchEvent<Ware>> = wares.watch()
        await events.each((event) => event.type === 'BOOKMARK' || event.object.size === 5)
        const any: Collection | Collection<DynamicObject> = await client.find('wares')
        const thrown: StatusError = new StatusError({ code: 404 })
        return isNotFound(thrown) && any instanceof Collection && thrown instanceof StatusError ? thrown.reason : String(store.size)
      }
      // @ts-expect-error the data of a config map are texts
      export const wrong = async (): Promise<number | undefined> => (await connect().core.v1.configMaps('shop').get('prices')).data?.['plum']
      export async function play(): Promise<readonly [Access, EmbeddedServer, RunningServer]> {
        const logger: Logger = { debug() {}, info(_fields: LogFields, message: string) { message.trim() }, warn() {}, error() {} }
        const identity: IdentityName = 'kubernetes'
        const value: ObjectValue = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }
        const objects: readonly FirstObject[] = ['folder', value]
        const etcd: EtcdLocation = { servers: [] }
        const options: ServerOptions = { logger, identity, objects, etcd, port: 0 }
        await using server = await startServer(options)
        // @ts-expect-error there is no such option
        await startServer({ datadir: 'x' })
        return [server.as('alice', ['dev']), server, server]
      }`
    for (const name of ['module.mts', 'common.cts']) writeFileSync(join(folder, name), program)
    const compilerOptions = {
      strict: true,
      noEmit: true,
      skipLibCheck: false,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      target: 'es2022',
      lib: ['es2023', 'esnext.disposable'],
      // Stricter than later versions: only CommonJS can be required.
      module: 'node16',
      types: ['node'],
      typeRoots: [join(repoRoot, 'node_modules', '@types')],
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['module.mts', 'common.cts'] }))
    const { stdout, stderr, code } = await runToEnd(process.execPath, [
      join(repoRoot, 'node_modules', 'typescript', 'bin', 'tsc'),
      '-p',
      folder,
    ])
    assert.equal(code, 0, `${stdout}${stderr}`)
  })
})
