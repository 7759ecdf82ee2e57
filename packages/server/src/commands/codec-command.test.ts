// The codec command, and through it the recorded pairs of JSON and Protobuf where they are at hand.

import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, test } from 'node:test'
import { readObject, runCodecCommand, writeObject } from './codec-command.js'
import { findSchema, groupVersions, schemaPath } from './codec-schemas.js'

async function run(args: readonly string[], input: string | Uint8Array): Promise<{ code: number; out: Buffer; complaints: string }> {
  const out: Uint8Array[] = []
  let complaints = ''
  async function* chunks(): AsyncGenerator<Uint8Array> {
    const bytes = Buffer.from(input)
    yield bytes.subarray(0, 5)
    yield bytes.subarray(5)
  }
  const streams = {
    input: chunks(),
    print: (bytes: Uint8Array) => void out.push(bytes),
    complain: (text: string) => {
      complaints += text
    },
  }
  const code = await runCodecCommand(args, streams, findSchema)
  return { code, out: Buffer.concat(out), complaints }
}

const json = '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","creationTimestamp":null},"data":{"k":"v"}}\n'
const yaml = 'apiVersion: v1\ndata:\n  k: v\nkind: ConfigMap\nmetadata:\n  creationTimestamp: null\n  name: a\n'
const binary = Buffer.from(
  '6b3873000a0f0a0276311209436f6e6669674d6170121b0a110a016112001a0022002a003200380042001206' + '0a016b1201761a002200',
  'hex',
)
const forms = { json: Buffer.from(json), yaml: Buffer.from(yaml), protobuf: binary }

describe('the codec command', () => {
  for (const [from, input] of Object.entries(forms)) {
    for (const [to, expected] of Object.entries(forms)) {
      test(`${from} to ${to}`, async () => {
        const { code, out, complaints } = await run(['--to', to], input)
        assert.deepEqual({ code, complaints }, { code: 0, complaints: '' })
        assert.equal(out.toString('hex'), expected.toString('hex'))
      })
    }
  }

  test('under either identity', async () => {
    for (const suffix of ['k8s.io', 'cluster.io']) {
      const role = `{"kind":"Role","apiVersion":"rbac.authorization.${suffix}/v1","rules":null}`
      const { out } = await run(['--to=protobuf'], role)
      assert.equal(JSON.parse((await run(['--to=json'], out)).out.toString()).apiVersion, `rbac.authorization.${suffix}/v1`)
    }
  })

  test('lists, options and the event of a watch', async () => {
    for (const text of [
      '{"kind":"ConfigMapList","apiVersion":"v1","metadata":{},"items":[{"metadata":{"name":"a","creationTimestamp":null}}]}',
      '{"kind":"DeleteOptions","apiVersion":"v1","dryRun":["All"]}',
      '{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1beta1","metadata":{"continue":"c"},"items":null}',
      '{"type":"ADDED","object":{"a":1}}',
    ]) {
      const { out } = await run(['--to', 'protobuf'], text)
      assert.equal((await run(['--to', 'json'], out)).out.toString(), `${text}\n`)
    }
  })

  const mistakes: readonly {
    readonly name: string
    readonly args: readonly string[]
    readonly input: string
    readonly code: number
    readonly says: RegExp
  }[] = [
    { name: 'no form', args: [], input: json, code: 2, says: /usage/ },
    { name: 'another form', args: ['--to', 'xml'], input: json, code: 2, says: /usage/ },
    {
      name: 'an unknown kind',
      args: ['--to', 'yaml'],
      input: '{"kind":"Nope","apiVersion":"v1"}',
      code: 1,
      says: /no kind "Nope" is known in version "v1"/,
    },
    { name: 'an unknown version', args: ['--to', 'yaml'], input: '{"kind":"Pod","apiVersion":"v9"}', code: 1, says: /no kind "Pod"/ },
    { name: 'no object', args: ['--to', 'yaml'], input: '- a', code: 1, says: /no object/ },
    { name: 'broken JSON', args: ['--to', 'yaml'], input: '{"kind":', code: 1, says: /JSON/ },
    { name: 'a broken envelope', args: ['--to', 'yaml'], input: 'k8s\0\xff', code: 1, says: /EOF/ },
    {
      name: 'no Protobuf form',
      args: ['--to', 'protobuf'],
      input: '{"kind":"Table","apiVersion":"meta.k8s.io/v1"}',
      code: 1,
      says: /no Protobuf form/,
    },
    { name: 'a wrong type', args: ['--to', 'yaml'], input: '{"kind":"Pod","apiVersion":"v1","spec":1}', code: 1, says: /spec/ },
    {
      name: 'unknown members',
      args: ['--to', 'yaml'],
      input: '{"kind":"Pod","apiVersion":"v1","spek":1}',
      code: 0,
      says: /unknown field "spek"/,
    },
  ]
  for (const { name, args, input, code, says } of mistakes) {
    test(`a mistake: ${name}`, async () => {
      const ran = await run(args, input)
      assert.equal(ran.code, code)
      assert.match(ran.complaints, says)
    })
  }

  test('every schema file is known', () => {
    const known = groupVersions.flatMap(({ group, versions }) => versions.map((version) => `${schemaPath(group, version)}.schema.js`))
    const folder = new URL('../resources/', import.meta.url)
    const present = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.schema.js'))
    assert.deepEqual(present.sort(), known.sort())
  })
})

const pairs = resolve('../shared/serialization')
/** Versions that the catalogue does not have, with fields that no later version has. */
const lost =
  /^(apps\.v1beta1\.|apps\.v1beta2\.Scale|autoscaling\.v2beta1|discovery\.k8s\.io\.v1beta1|extensions\.|node\.k8s\.io\.v1alpha1|policy\.v1beta1\.PodSec|rbac\.\S*\.v1alpha1)/

describe('recorded pairs', { skip: existsSync(pairs) ? false : `no recordings in ${pairs}` }, () => {
  const names = existsSync(pairs) ? readdirSync(pairs).filter((name) => name.endsWith('.json')) : []
  for (const name of names) {
    test(name, { skip: lost.test(name) ? 'a version that is gone' : false }, async () => {
      const text = readFileSync(resolve(pairs, name))
      const binary = readFileSync(resolve(pairs, name.replace(/json$/, 'pb')))
      const fromText = await readObject(text, findSchema)
      const fromBinary = await readObject(binary, findSchema)
      assert.deepEqual(fromText.unknown, [])
      assert.deepEqual(fromBinary.value, fromText.value)
      assert.equal(Buffer.from(writeObject(fromText, 'protobuf')).toString('hex'), binary.toString('hex'))
      assert.deepEqual(JSON.parse(Buffer.from(writeObject(fromBinary, 'json')).toString()), JSON.parse(text.toString()))
    })
  }
})
