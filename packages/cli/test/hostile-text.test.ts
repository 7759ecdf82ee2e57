// Control characters in objects and messages are escaped on terminals.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { escapeTerminalControls } from '../../api/src/base/text/escape-terminal-controls.js'
import { StatusError } from '../../client/src/errors.js'
import { explain } from '../src/command-line/errors.js'
import { colourStyle, escapeAllButOwnColours } from '../src/command-line/io.js'
import { alignRows, headerRow } from '../src/output/columns.js'
import { useServer } from './harness.js'

const ready = useServer()
const titleSequence = '\x1b]0;OWNED\x07'
const anyControl = /[\0-\x08\x0b-\x1f\x7f-\x9f]/

const event = {
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name: 'e1', namespace: 'default' },
  involvedObject: { kind: 'ConfigMap', name: 'cm', namespace: 'default' },
  reason: `x${titleSequence}`,
  message: 'hello\x1b[2J\x1b[31mred \x9b2J\r\nfake line',
  type: 'Normal',
  source: { component: 'c' },
}
const map = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'cm', namespace: 'default', annotations: { a: 'x\x1b[2Jy' } },
  data: { k: `v${titleSequence}\nmore` },
}
const crd = {
  apiVersion: 'apiextensions.cluster.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'foos.ex.com' },
  spec: {
    group: 'ex.com',
    scope: 'Namespaced',
    names: { plural: 'foos', singular: 'foo', kind: 'Foo', listKind: 'FooList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        additionalPrinterColumns: [{ name: 'Msg', type: 'string', jsonPath: '.msg' }],
        schema: { openAPIV3Schema: { type: 'object', properties: { msg: { type: 'string', description: `x${titleSequence}` } } } },
      },
    ],
  },
}
const foo = {
  apiVersion: 'ex.com/v1',
  kind: 'Foo',
  metadata: { name: 'f', namespace: 'default' },
  msg: `evil${titleSequence}\x1b[31m\nhidden`,
}

let prepared: Promise<void> | undefined
const prepare = (): Promise<void> => {
  prepared ??= createAll()
  return prepared
}

async function createAll(): Promise<void> {
  for (const object of [event, map, crd, foo]) {
    // A CRD is served with a delay.
    for (let tries = 0; ; tries++) {
      const { code, stderr } = await ready().run(['create', '-f', '-'], escapeTerminalControls(JSON.stringify(object)))
      if (code === 0) break
      assert.ok(tries < 5, stderr)
    }
  }
}

const lines: readonly (readonly [line: string, expected: string])[] = [
  ['get foos', 'evil^[]0;OWNED^G^[[31m...'],
  ['get events', 'hello^[[2J^[[31mred \\u009b2J...'],
  ['events', 'hello^[[2J^[[31mred \\u009b2J\\r\\nfake line'],
  ['describe configmap cm', 'v^[]0;OWNED^G'],
  ['describe foo f', 'evil^[]0;OWNED^G'],
  ['explain foos.msg', 'x^[]0;OWNED^G'],
  ['get foos f -o custom-columns=A:.msg,B:.kind', 'evil^[]0;OWNED^G^[[31m\\nhidden   Foo'],
  ['blame foo f', 'evil^[]0;OWNED^G^[[31m'],
]
for (const [line, expected] of lines) {
  test(`${line} escapes control characters`, async () => {
    await prepare()
    const printed = await ready().ok(...line.split(' '))
    assert.ok(printed.includes(expected), JSON.stringify(printed))
    assert.doesNotMatch(printed, anyControl)
  })
}

test('-o json and jsonpath print raw values', async () => {
  await prepare()
  assert.equal(await ready().ok('get', 'foo', 'f', '-o', 'jsonpath={.msg}'), foo.msg)
  assert.equal(JSON.parse(await ready().ok('get', 'foo', 'f', '-o', 'json')).msg, foo.msg)
})

test('only colour codes of clusterctl are not escaped', () => {
  const bold = colourStyle.bold('A')
  assert.equal(escapeAllButOwnColours(`${bold}\x1b[2J\x1b[31;5mB\x9b`), `${bold}^[[2J^[[31;5mB\\u009b`)
  assert.equal(
    alignRows([headerRow(['A', 'B'], colourStyle), ['\x1b[31mx\x1b[0m', 'y']]),
    `${bold}              ${colourStyle.bold('B')}\n^[[31mx^[[0m   y\n`,
  )
})

test('control characters in messages of the server are escaped', () => {
  const status = new StatusError({ code: 403, reason: 'Forbidden', message: 'no\x1b[2J\r' })
  assert.equal(explain(status), 'Error from server (Forbidden): no^[[2J\\r\n')
})
