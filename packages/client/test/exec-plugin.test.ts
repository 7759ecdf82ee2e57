// Credential plugins: what they are told, when they are run, and what is said of each thing that can be wrong with them.

import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { identityNames, identityOf } from '../../api/identity.js'
import { issueCertificate } from '../../net/issue-certificate.js'
import type { ClusterEntry, ExecEntry } from '../config/config-entries.js'
import { readPlugin } from '../config/exec-credential.js'
import { ConfigError, CredentialError } from '../errors.js'
import type { CredentialSource } from '../transport.js'
import { pluginSource } from './exec-plugin.js'

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
  /** What it was told, run after run. */
  runs(): readonly {
    readonly info: { readonly spec: { readonly interactive: boolean } }
    readonly args: string
    readonly variable: string
  }[]
}

/** A program that prints a text, and keeps what it was told. */
function script(prints: string | object, { body = '', ...more }: ExecEntry & { readonly body?: string } = {}): Script {
  const path = join(folder, `plugin-${++count}`)
  const log = `${path}.log`
  const answer = `${path}.answer`
  writeFileSync(answer, typeof prints === 'string' ? prints : JSON.stringify(prints))
  writeFileSync(path, `#!/bin/sh\nprintf '%s\\n%s\\n%s\\n' "$KUBERNETES_EXEC_INFO" "$*" "$GIVEN" >> ${log}\n${body}\ncat ${answer}\n`, {
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

describe('a credential plugin', () => {
  for (const version of versions) {
    test(`gives a token in ${version}`, async () => {
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

  test('is told of the cluster where it shall be', async () => {
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

  test('gives a certificate and its key, also beside a token', async () => {
    const times = { notBefore: Date.now() - 1000, notAfter: Date.now() + 3_600_000 }
    const { cert, key } = issueCertificate({ commonName: 'alice', use: 'client', ...times })
    const { entry } = script(credential({ token: 'abc', clientCertificateData: cert, clientKeyData: key }))
    assert.deepEqual(await sourceOf(entry).current(), { authorization: 'Bearer abc', certificate: { cert, key } })
    const { key: other } = issueCertificate({ commonName: 'alice', use: 'client', ...times })
    const wrong = script(credential({ clientCertificateData: cert, clientKeyData: other }))
    await assert.rejects(
      async () => sourceOf(wrong.entry).current(),
      /its certificate and key cannot be used: the key belongs to another certificate/,
    )
    const broken = script(credential({ clientCertificateData: 'x', clientKeyData: other }))
    await assert.rejects(async () => sourceOf(broken.entry).current(), /its certificate and key cannot be used/)
  })

  test('runs once however many wait, and again when its answer has expired or was refused', async () => {
    let now = Date.parse('2030-01-01T00:00:00Z')
    const { entry, runs } = script(credential({ token: 'abc', expirationTimestamp: '2030-01-01T01:00:00Z' }), { body: 'sleep 0.1' })
    const source = sourceOf(entry, { now: () => now })
    const all = await Promise.all(Array.from({ length: 20 }, () => source.current()))
    assert.equal(runs().length, 1)
    assert.ok(all.every((one) => one === all[0]))
    now += 3_599_000
    const kept = await source.current()
    assert.equal(runs().length, 1)
    assert.equal(source.refuse?.(kept), true)
    // Of those who come late with what was refused before, none makes it run again.
    const next = await source.current()
    assert.equal(source.refuse?.(kept), true)
    assert.equal(await source.current(), next)
    assert.equal(runs().length, 2)
    now += 2000
    await assert.rejects(async () => source.current(), /has expired at 2030-01-01T01:00:00Z, before it was used/)
    assert.equal(runs().length, 3)
  })

  test('is kept without an end where it says none, and shared by clients of one configuration', async () => {
    const { entry, runs } = script(credential({ token: 'abc' }))
    const settings = { plugin: readPlugin(entry, ''), cluster: clusterEntry, ca: undefined }
    assert.equal(pluginSource(settings), pluginSource({ ...settings }))
    await pluginSource(settings).current()
    await pluginSource(settings).current()
    assert.equal(runs().length, 1)
    assert.notEqual(pluginSource(settings), pluginSource({ ...settings, cluster: { server: 'https://other' } }))
  })

  test('who stops waiting leaves the others their answer', async () => {
    const { entry, runs } = script(credential({ token: 'abc' }), { body: 'sleep 0.2' })
    const source = sourceOf(entry)
    const controller = new AbortController()
    const [gone, waiting] = [source.current(controller.signal), source.current()]
    controller.abort(new Error('enough'))
    await assert.rejects(async () => gone, /enough/)
    assert.deepEqual(await waiting, { authorization: 'Bearer abc' })
    assert.equal(runs().length, 1)
  })

  test('says clearly what went wrong', async () => {
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
    await fails({ apiVersion, command: folder, interactiveMode: 'Never' }, /it cannot be run/)
    await fails(script('', { body: 'exit 7' }).entry, /it failed with exit code 7/)
    await fails(script('', { body: 'kill -9 $$' }).entry, /it was ended by SIGKILL/)
    await fails(script('').entry, /it printed no JSON object, but nothing at all/)
    await fails(script('hello').entry, /it printed no JSON object/)
    await fails(script('[]').entry, /it printed no JSON object/)
    await fails(script({ kind: 'Pod', apiVersion }).entry, /it printed a "Pod" and no ExecCredential/)
    await fails(script(credential({ token: 'a' }, versions[1])).entry, /it is configured for .*\/v1 and answered in ".*\/v1beta1"/)
    await fails(script(credential(undefined)).entry, /its answer has no status/)
    await fails(script(credential({})).entry, /it gave neither a token nor a certificate/)
    await fails(script(credential({ token: 7 })).entry, /status.token is no text/)
    await fails(script(credential({ clientKeyData: 'x' })).entry, /it gave only a key; the two go together/)
    await fails(script(credential({ token: 'a', clientCertificateData: 'x' })).entry, /it gave only a certificate; the two go together/)
    await fails(script(credential({ token: 'a', expirationTimestamp: 'soon' })).entry, /expirationTimestamp "soon" is no time/)
    await fails(
      script(credential({ token: 'a', expirationTimestamp: '2001-01-01T00:00:00Z' })).entry,
      /has expired at 2001-01-01T00:00:00Z/,
    )
    await fails(script(credential({ token: 'a' }), { interactiveMode: 'Always' }).entry, /standard input is no terminal/)
  })

  test('failures are not kept', async () => {
    const { entry, runs } = script('', { body: 'exit 1' })
    const source = sourceOf(entry)
    for (let round = 1; round <= 2; round++) {
      await assert.rejects(async () => source.current(), /exit code 1/)
      assert.equal(runs().length, round)
    }
  })

  test('may ask questions where somebody sits at a terminal', async () => {
    const asks = async (interactiveMode: string, isTerminal: boolean): Promise<unknown> => {
      const { entry, runs } = script(credential({ token: 'a' }), { interactiveMode })
      await sourceOf(entry, { isTerminal }).current()
      return runs()[0]?.info.spec.interactive
    }
    assert.deepEqual(
      [await asks('Never', true), await asks('IfAvailable', false), await asks('IfAvailable', true), await asks('Always', true)],
      [false, false, true, true],
    )
  })

  test('must be described as a whole', () => {
    const fails = (entry: ExecEntry, message: RegExp): void =>
      assert.throws(
        () => readPlugin(entry, 'user "u"'),
        (error) => error instanceof ConfigError && message.test(error.message),
      )
    fails({ apiVersion, interactiveMode: 'Never' }, /user "u": exec has no command/)
    fails({ command: 'a' }, /exec has no apiVersion/)
    fails({ command: 'a', apiVersion: 'v1' }, /exec has the apiVersion "v1"/)
    fails({ command: 'a', apiVersion }, /exec must say an interactiveMode/)
    fails({ command: 'a', apiVersion, interactiveMode: 'Often' }, /"Often"; Never, IfAvailable, Always are known/)
    fails({ command: 'a', apiVersion, interactiveMode: 'Never', env: [{ name: '', value: '' }] }, /has no name/)
    assert.equal(readPlugin({ command: 'a', apiVersion: versions[1] ?? '' }, '').interactiveMode, 'IfAvailable')
  })

  test('that prints without end is not listened to, and has nobody to print for', async () => {
    const pidFile = join(folder, 'endless.pid')
    const { entry } = script('', { body: `trap '' TERM\necho $$ > ${pidFile}\nwhile printf '%65536s' x; do :; done; exit 0` })
    await assert.rejects(async () => sourceOf(entry).current(), /it prints too much/)
    const pid = Number(readFileSync(pidFile, 'utf8'))
    const isThere = (): boolean => {
      try {
        return process.kill(pid, 0)
      } catch {
        return false
      }
    }
    for (const until = Date.now() + 60_000; isThere() && Date.now() < until; ) await new Promise((resolve) => setTimeout(resolve, 5))
    assert.equal(isThere(), false)
  })
})
