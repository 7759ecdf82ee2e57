// The command codec, with recorded pairs of JSON and Protobuf, if present.

import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, test } from 'node:test'
import { readObject, runCodecCommand, writeObject } from './codec-command.js'
import { groupVersions, schemaPath } from './codec-schemas.js'

async function run(args: readonly string[], input: string | Uint8Array): Promise<{ code: number; out: Buffer; errors: string }> {
  const out: Uint8Array[] = []
  let errors = ''
  async function* chunks(): AsyncGenerator<Uint8Array> {
    const bytes = Buffer.from(input)
    yield bytes.subarray(0, 5)
    yield bytes.subarray(5)
  }
  const streams = {
    input: chunks(),
    print: (bytes: Uint8Array) => void out.push(bytes),
    printError: (text: string) => {
      errors += text
    },
  }
  const code = await runCodecCommand(args, streams)
  return { code, out: Buffer.concat(out), errors }
}

const json = '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","creationTimestamp":null},"data":{"k":"v"}}\n'
const yaml = 'apiVersion: v1\ndata:\n  k: v\nkind: ConfigMap\nmetadata:\n  creationTimestamp: null\n  name: a\n'
const binary = Buffer.from(
  '6b3873000a0f0a0276311209436f6e6669674d6170121b0a110a016112001a0022002a003200380042001206' + '0a016b1201761a002200',
  'hex',
)
const encodings = { json: Buffer.from(json), yaml: Buffer.from(yaml), protobuf: binary }

describe('the codec command', () => {
  for (const [from, input] of Object.entries(encodings)) {
    for (const [to, expected] of Object.entries(encodings)) {
      test(`${from} to ${to}`, async () => {
        const { code, out, errors } = await run(['--to', to], input)
        assert.deepEqual({ code, errors }, { code: 0, errors: '' })
        assert.equal(out.toString('hex'), expected.toString('hex'))
      })
    }
  }

  test('converts groups of both identities', async () => {
    for (const suffix of ['k8s.io', 'cluster.io']) {
      const role = `{"kind":"Role","apiVersion":"rbac.authorization.${suffix}/v1","rules":null}`
      const { out } = await run(['--to=protobuf'], role)
      assert.equal(JSON.parse((await run(['--to=json'], out)).out.toString()).apiVersion, `rbac.authorization.${suffix}/v1`)
    }
  })

  test('converts lists, options and the event of a watch', async () => {
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

  const reportedInputs: readonly {
    readonly name: string
    readonly args: readonly string[]
    readonly input: string
    readonly code: number
    readonly message: RegExp
  }[] = [
    { name: 'no format', args: [], input: json, code: 2, message: /usage/ },
    { name: 'unknown format', args: ['--to', 'xml'], input: json, code: 2, message: /usage/ },
    {
      name: 'an unknown kind',
      args: ['--to', 'yaml'],
      input: '{"kind":"Nope","apiVersion":"v1"}',
      code: 1,
      message: /unknown kind "Nope" in version "v1"/,
    },
    {
      name: 'an unknown version',
      args: ['--to', 'yaml'],
      input: '{"kind":"Pod","apiVersion":"v9"}',
      code: 1,
      message: /unknown kind "Pod"/,
    },
    { name: 'no object', args: ['--to', 'yaml'], input: '- a', code: 1, message: /not an object/ },
    { name: 'broken JSON', args: ['--to', 'yaml'], input: '{"kind":', code: 1, message: /JSON/ },
    { name: 'a broken envelope', args: ['--to', 'yaml'], input: 'k8s\0\xff', code: 1, message: /EOF/ },
    {
      name: 'no Protobuf encoding',
      args: ['--to', 'protobuf'],
      input: '{"kind":"Table","apiVersion":"meta.k8s.io/v1"}',
      code: 1,
      message: /no Protobuf encoding/,
    },
    { name: 'a wrong type', args: ['--to', 'yaml'], input: '{"kind":"Pod","apiVersion":"v1","spec":1}', code: 1, message: /spec/ },
    {
      name: 'unknown fields',
      args: ['--to', 'yaml'],
      input: '{"kind":"Pod","apiVersion":"v1","spek":1}',
      code: 0,
      message: /unknown field "spek"/,
    },
  ]
  for (const { name, args, input, code, message } of reportedInputs) {
    test(`reported: ${name}`, async () => {
      const result = await run(args, input)
      assert.equal(result.code, code)
      assert.match(result.errors, message)
    })
  }

  test('every schema file is registered', () => {
    const registered = groupVersions.flatMap(({ group, versions }) => versions.map((version) => `${schemaPath(group, version)}.schema.js`))
    const folder = new URL('./dist/resources/', import.meta.resolve('@cluster-apiserver/api/package.json'))
    const present = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.schema.js'))
    assert.deepEqual(present.sort(), registered.sort())
  })
})

const pairs = resolve('../shared/serialization')
/** Removed versions with fields that no later version has. */
const removedVersions =
  /^(apps\.v1beta1\.|apps\.v1beta2\.Scale|autoscaling\.v2beta1|discovery\.k8s\.io\.v1beta1|extensions\.|node\.k8s\.io\.v1alpha1|policy\.v1beta1\.PodSec|rbac\.\S*\.v1alpha1)/

describe('recorded pairs', { skip: existsSync(pairs) ? false : `no recordings in ${pairs}` }, () => {
  const names = existsSync(pairs) ? readdirSync(pairs).filter((name) => name.endsWith('.json')) : []
  for (const name of names) {
    test(name, { skip: removedVersions.test(name) ? 'a removed version' : false }, async () => {
      const text = readFileSync(resolve(pairs, name))
      const binary = readFileSync(resolve(pairs, name.replace(/json$/, 'pb')))
      const fromText = await readObject(text)
      const fromBinary = await readObject(binary)
      assert.deepEqual(fromText.unknown, [])
      assert.deepEqual(fromBinary.value, fromText.value)
      assert.equal(Buffer.from(writeObject(fromText, 'protobuf')).toString('hex'), binary.toString('hex'))
      assert.deepEqual(JSON.parse(Buffer.from(writeObject(fromBinary, 'json')).toString()), JSON.parse(text.toString()))
    })
  }
})
