// Credential plugins: input, caching, errors.

import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { identityNames, identityOf } from '../../api/src/api/identity.js'
import { issueCertificate } from '../../server/src/net/tls/issue-certificate.js'
import { readPlugin } from '../src/config/exec-credential.js'
import type { ClusterEntry, ExecEntry } from '../src/config/kubeconfig.js'
import { ConfigError, CredentialError } from '../src/errors.js'
import { pluginSource } from '../src/node/exec-plugin.js'
import type { CredentialSource } from '../src/transport/transport.js'

const folder = mkdtempSync(join(tmpdir(), 'exec-plugin-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const versions = identityNames.flatMap((name) =>
  ['v1', 'v1beta1'].map((version) => `${identityOf(name).group({ stem: 'client.authentication' })}/${version}`),
)
const [apiVersion = ''] = versions
const clusterEntry: ClusterEntry = { server: 'https://api.example', 'tls-server-name': 'inner', 'proxy-url': 'http://proxy:1' }

let count = 0
interface Script {
  readonly entry: ExecEntry
  /** Input of each run. */
  runs(): readonly {
    readonly info: { readonly spec: { readonly interactive: boolean } }
    readonly args: string
    readonly variable: string
  }[]
}

/** Shell script that prints a text and logs its input. */
function script(prints: string | object, { body = '', ...more }: ExecEntry & { readonly body?: string } = {}): Script {
  const path = join(folder, `plugin-${++count}`)
  const log = `${path}.log`
  const outputFile = `${path}.output`
  writeFileSync(outputFile, typeof prints === 'string' ? prints : JSON.stringify(prints))
  writeFileSync(path, `#!/bin/sh\nprintf '%s\\n%s\\n%s\\n' "$KUBERNETES_EXEC_INFO" "$*" "$GIVEN" >> ${log}\n${body}\ncat ${outputFile}\n`, {
    mode: 0o755,
  })
  return {
    entry: { apiVersion, command: path, interactiveMode: 'Never', ...more },
    runs: () => {
      const lines = existsSync(log) ? readFileSync(log, 'utf8').split('\n') : []
      return Array.from({ length: Math.floor(lines.length / 3) }, (_, index) => ({
        info: JSON.parse(lines[index * 3] ?? ''),
        args: lines[index * 3 + 1] ?? '',
        variable: lines[index * 3 + 2] ?? '',
      }))
    },
  }
}

const credential = (status: object | undefined, version = apiVersion): object => ({ kind: 'ExecCredential', apiVersion: version, status })

function sourceOf(entry: ExecEntry, { now = () => Date.now(), isTerminal = false } = {}): CredentialSource {
  return pluginSource({ plugin: readPlugin(entry, 'user "u"'), cluster: clusterEntry, ca: 'Q0E=', clock: { now }, isTerminal })
}

describe('credential plugin', () => {
  for (const version of versions) {
    test(`provides a token with ${version}`, async () => {
      const { entry, runs } = script(credential({ token: 'abc' }, version), {
        apiVersion: version,
        args: ['a', 'b c'],
        env: [{ name: 'GIVEN', value: 'yes' }],
      })
      assert.deepEqual(await sourceOf(entry).current(), { authorization: 'Bearer abc' })
      assert.deepEqual(runs(), [
        { info: { kind: 'ExecCredential', apiVersion: version, spec: { interactive: false } }, args: 'a b c', variable: 'yes' },
      ])
    })
  }

  test('gets the cluster with provideClusterInfo', async () => {
    const { entry, runs } = script(credential({ token: 'abc' }), { provideClusterInfo: true })
    const name = `${identityOf('kubernetes').group({ stem: 'client.authentication' })}/exec`
    const cluster = { ...clusterEntry, extensions: [{ name, extension: { audience: 'x' } }] }
    await pluginSource({ plugin: readPlugin(entry, ''), cluster, ca: 'Q0E=', clock: { now: () => 0 } }).current()
    assert.deepEqual(runs()[0]?.info.spec, {
      cluster: {
        server: 'https://api.example',
        'tls-server-name': 'inner',
        'certificate-authority-data': 'Q0E=',
        'proxy-url': 'http://proxy:1',
        config: { audience: 'x' },
      },
      interactive: false,
    })
  })

  test('provides certificate and key, also with a token', async () => {
    const validity = { notBefore: Date.now() - 1000, notAfter: Date.now() + 3_600_000 }
    const { cert, key } = issueCertificate({ commonName: 'alice', use: 'client', ...validity })
    const { entry } = script(credential({ token: 'abc', clientCertificateData: cert, clientKeyData: key }))
    assert.deepEqual(await sourceOf(entry).current(), { authorization: 'Bearer abc', certificate: { cert, key } })
    const { key: other } = issueCertificate({ commonName: 'alice', use: 'client', ...validity })
    const wrong = script(credential({ clientCertificateData: cert, clientKeyData: other }))
    await assert.rejects(
      async () => sourceOf(wrong.entry).current(),
      /its certificate and key cannot be used: the key belongs to another certificate/,
    )
    const broken = script(credential({ clientCertificateData: 'x', clientKeyData: other }))
    await assert.rejects(async () => sourceOf(broken.entry).current(), /its certificate and key cannot be used/)
  })

  test('runs once for concurrent callers, and again after expiry and 401', async () => {
    let now = Date.parse('2030-01-01T00:00:00Z')
    const { entry, runs } = script(credential({ token: 'abc', expirationTimestamp: '2030-01-01T01:00:00Z' }), { body: 'sleep 0.1' })
    const source = sourceOf(entry, { now: () => now })
    const all = await Promise.all(Array.from({ length: 20 }, () => source.current()))
    assert.equal(runs().length, 1)
    assert.ok(all.every((one) => one === all[0]))
    now += 3_599_000
    const kept = await source.current()
    assert.equal(runs().length, 1)
    assert.equal(source.invalidate?.(kept), true)
    // A second 401 for the old credential does not run the plugin again.
    const next = await source.current()
    assert.equal(source.invalidate?.(kept), true)
    assert.equal(await source.current(), next)
    assert.equal(runs().length, 2)
    now += 2000
    await assert.rejects(async () => source.current(), /expired at 2030-01-01T01:00:00Z/)
    assert.equal(runs().length, 3)
  })

  test('without expirationTimestamp is cached, and shared by clients of one configuration', async () => {
    const { entry, runs } = script(credential({ token: 'abc' }))
    const settings = { plugin: readPlugin(entry, ''), cluster: clusterEntry, ca: undefined }
    assert.equal(pluginSource(settings), pluginSource({ ...settings }))
    await pluginSource(settings).current()
    await pluginSource(settings).current()
    assert.equal(runs().length, 1)
    assert.notEqual(pluginSource(settings), pluginSource({ ...settings, cluster: { server: 'https://other' } }))
  })

  test('an aborted caller does not stop the run of others', async () => {
    const { entry, runs } = script(credential({ token: 'abc' }), { body: 'sleep 0.2' })
    const source = sourceOf(entry)
    const controller = new AbortController()
    const [aborted, waiting] = [source.current(controller.signal), source.current()]
    controller.abort(new Error('enough'))
    await assert.rejects(async () => aborted, /enough/)
    assert.deepEqual(await waiting, { authorization: 'Bearer abc' })
    assert.equal(runs().length, 1)
  })

  test('reports errors as CredentialError', async () => {
    const fails = async (entry: ExecEntry, message: RegExp, more: { isTerminal?: boolean } = {}): Promise<void> => {
      await assert.rejects(
        async () => sourceOf(entry, more).current(),
        (error) => {
          assert.ok(error instanceof CredentialError, String(error))
          assert.match(error.message, message)
          return true
        },
      )
    }
    await fails(
      { apiVersion, command: 'no-such-plugin', interactiveMode: 'Never', installHint: 'apt install it' },
      /no-such-plugin: the command was not found\n\napt install it$/,
    )
    await fails({ apiVersion, command: folder, interactiveMode: 'Never' }, /it cannot be started/)
    await fails(script('', { body: 'exit 7' }).entry, /it failed with exit code 7/)
    await fails(script('', { body: 'kill -9 $$' }).entry, /it was killed by SIGKILL/)
    await fails(script('').entry, /it printed nothing/)
    await fails(script('hello').entry, /it printed no JSON object/)
    await fails(script('[]').entry, /it printed no JSON object/)
    await fails(script({ kind: 'Pod', apiVersion }).entry, /it printed kind "Pod" instead of ExecCredential/)
    await fails(script(credential({ token: 'a' }, versions[1])).entry, /it is configured for .*\/v1 but printed ".*\/v1beta1"/)
    await fails(script(credential(undefined)).entry, /its output has no status/)
    await fails(script(credential({})).entry, /it printed neither a token nor a certificate/)
    await fails(script(credential({ token: 7 })).entry, /status.token is not a string/)
    await fails(script(credential({ clientKeyData: 'x' })).entry, /it printed a key without a certificate/)
    await fails(script(credential({ token: 'a', clientCertificateData: 'x' })).entry, /it printed a certificate without a key/)
    await fails(script(credential({ token: 'a', expirationTimestamp: 'soon' })).entry, /expirationTimestamp "soon" is not an RFC 3339 time/)
    await fails(
      script(credential({ token: 'a', expirationTimestamp: '2001-01-01T00:00:00Z' })).entry,
      /credential expired at 2001-01-01T00:00:00Z/,
    )
    await fails(script(credential({ token: 'a' }), { interactiveMode: 'Always' }).entry, /stdin is not a terminal/)
  })

  test('errors are not cached', async () => {
    const { entry, runs } = script('', { body: 'exit 1' })
    const source = sourceOf(entry)
    for (let round = 1; round <= 2; round++) {
      await assert.rejects(async () => source.current(), /exit code 1/)
      assert.equal(runs().length, round)
    }
  })

  test('is interactive by interactiveMode and terminal', async () => {
    const interactiveOf = async (interactiveMode: string, isTerminal: boolean): Promise<unknown> => {
      const { entry, runs } = script(credential({ token: 'a' }), { interactiveMode })
      await sourceOf(entry, { isTerminal }).current()
      return runs()[0]?.info.spec.interactive
    }
    assert.deepEqual(
      [
        await interactiveOf('Never', true),
        await interactiveOf('IfAvailable', false),
        await interactiveOf('IfAvailable', true),
        await interactiveOf('Always', true),
      ],
      [false, false, true, true],
    )
  })

  test('rejects incomplete exec entries', () => {
    const fails = (entry: ExecEntry, message: RegExp): void =>
      assert.throws(
        () => readPlugin(entry, 'user "u"'),
        (error) => error instanceof ConfigError && message.test(error.message),
      )
    fails({ apiVersion, interactiveMode: 'Never' }, /user "u": exec has no command/)
    fails({ command: 'a' }, /exec has no apiVersion/)
    fails({ command: 'a', apiVersion: 'v1' }, /exec has the unsupported apiVersion "v1"/)
    fails({ command: 'a', apiVersion }, /exec requires interactiveMode/)
    fails({ command: 'a', apiVersion, interactiveMode: 'Often' }, /"Often"; supported: Never, IfAvailable, Always/)
    fails({ command: 'a', apiVersion, interactiveMode: 'Never', env: [{ name: '', value: '' }] }, /has no name/)
    assert.equal(readPlugin({ command: 'a', apiVersion: versions[1] ?? '' }, '').interactiveMode, 'IfAvailable')
  })

  test('with endless output is stopped, also if it ignores SIGTERM', async () => {
    const pidFile = join(folder, 'endless.pid')
    const { entry } = script('', { body: `trap '' TERM\necho $$ > ${pidFile}\nwhile printf '%65536s' x; do :; done; exit 0` })
    await assert.rejects(async () => sourceOf(entry).current(), /it printed more than 4194304 bytes/)
    const pid = Number(readFileSync(pidFile, 'utf8'))
    const isRunning = (): boolean => {
      try {
        return process.kill(pid, 0)
      } catch {
        return false
      }
    }
    for (const until = Date.now() + 60_000; isRunning() && Date.now() < until; ) await new Promise((resolve) => setTimeout(resolve, 5))
    assert.equal(isRunning(), false)
  })
})
