// Texts of the console without a browser: YAML lines, differences, paths of YAML lines, commands, metrics, rules, order of rows.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { writeYaml } from '../../api/src/codec/yaml/write-yaml.js'
import { fieldsOf, findConflicts, pathText, withoutFields } from '../src/change/object-changes.js'
import { lineOfField, readFieldPath, scanYaml } from '../src/editor/scan-yaml.js'
import { diffLines, hunksOf } from '../src/object/line-diff.js'
import { lineText, yamlLines } from '../src/object/yaml-lines.js'
import { compareCells, RowOrder, serverOrder } from '../src/table/row-order.js'
import { GaugeHistory, gaugeMetrics } from '../src/understand/gauge-history.js'
import { readMetrics, sumOf } from '../src/understand/metrics-text.js'
import { matchesRule, readRefusal } from '../src/understand/rbac-rules.js'
import { asClusterctl, asCurl } from '../src/understand/request-commands.js'

const object = {
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { name: 'a', labels: { 'example.com/app': 'yes', 'b"c': '1' }, annotations: {} },
  spec: {
    items: [{ name: 'x', args: ['one', 'two\nlines\n\n  here\n', ''], nested: [[1, 2], []] }, 'text', 3, null, true],
    text: 'first\n\nlast',
    empty: [],
    number: 1.5,
  },
}

describe('yaml lines', () => {
  test('are the lines of the YAML writer', () => {
    assert.equal(`${yamlLines(object).map(lineText).join('\n')}\n`, writeYaml(object))
  })

  test('have the path and the end of their field', () => {
    const lines = yamlLines(object)
    const at = lines.findIndex(({ path }) => path.join('.') === 'spec.items')
    assert.equal(lines[lines[at]?.end ?? 0]?.path.join('.'), 'spec.number')
    assert.ok(lines.some(({ path, value }) => path.join('.') === 'spec.items.0.name' && value === 'x'))
    assert.deepEqual(
      lines.map(({ path }) => path.join('.')),
      scanYaml(writeYaml(object))
        .slice(0, -1)
        .map(({ path }) => path.join('.')),
    )
  })
})

describe('yaml text while it is edited', () => {
  const text =
    "spec:\n  containers:\n  - name: web\n    args:\n      - a\n      - 'b'\n    env:\n    - name: |\n        key: no\n      value: x\n  # comment\n  other: 1\nmetadata:\n  "
  const paths = scanYaml(text).map(({ path }) => path.join('.'))

  test('each line has the path of its field', () => {
    assert.deepEqual(paths, [
      'spec',
      'spec.containers',
      'spec.containers.0.name',
      'spec.containers.0.args',
      'spec.containers.0.args.0',
      'spec.containers.0.args.1',
      'spec.containers.0.env',
      'spec.containers.0.env.0.name',
      'spec.containers.0.env.0.name',
      'spec.containers.0.env.0.value',
      'spec.containers.0.env.0.value',
      'spec.other',
      'metadata',
      'metadata',
    ])
  })

  test('errors of the server find their line', () => {
    const lines = scanYaml(text)
    assert.equal(lineOfField(lines, readFieldPath('spec.containers[0].env[0].value')), 9)
    assert.equal(lineOfField(lines, readFieldPath('spec.containers[0].image')), 2)
    assert.equal(lineOfField(lines, readFieldPath('status')), undefined)
    assert.deepEqual(readFieldPath('data[a.b].c[2]'), ['data', 'a.b', 'c', 2])
  })
})

test('differences, applied to the first text, give the second one', () => {
  let seed = 1
  const random = (limit: number): number => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % limit
  }
  for (let round = 0; round < 300; round++) {
    const a = Array.from({ length: random(12) }, () => String(random(4)))
    const b = Array.from({ length: random(12) }, () => String(random(4)))
    const lines = diffLines(a, b)
    const texts = (other: string): readonly string[] => lines.filter(({ type }) => type !== other).map(({ text }) => text)
    assert.deepEqual([texts('added'), texts('removed')], [a, b])
  }
  const long = Array.from({ length: 5000 }, (_, i) => `a${i}`)
  assert.equal(
    diffLines(
      long,
      long.map((text) => `${text}x`),
    ).length,
    10_000,
    'without any equal line',
  )
  const [first, second] = hunksOf(diffLines(long, long.with(2000, 'new').with(4000, 'other')))
  assert.deepEqual([first?.skipped, first?.lines.length, second?.skipped], [1997, 8, 1993])
})

test('conflicts are changes of other writers in the same field, and fields that they apply', () => {
  const owner = { manager: 'robot', operation: 'Apply', apiVersion: 'v1', subresource: '', since: '' }
  const owners = new Map([['["data","owned"]', [owner]]])
  const mine = { data: { changed: '1', owned: '2', free: '3', same: '4' } }
  const conflicts = findConflicts(mine, { data: { changed: 'x', same: '4', other: 'y' } }, owners)
  assert.deepEqual(
    conflicts.map(({ path }) => pathText(path)),
    ['data.changed', 'data.owned'],
  )
  assert.deepEqual(
    withoutFields(mine, [
      ['data', 'changed'],
      ['data', 'owned'],
    ]),
    { data: { free: '3', same: '4' } },
  )
  assert.equal(withoutFields({ a: { b: null } }, [['a', 'b']]), undefined)
  assert.deepEqual(
    fieldsOf({ a: { b: null, c: {} } }).map(({ path }) => path.join('.')),
    ['a.b', 'a.c'],
  )
})

test('rules match as in RBAC', () => {
  const rule = { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods', '*/log'], resourceNames: [] }
  const question = { verb: 'get', group: '', resource: 'pods', namespace: 'shop', name: '' }
  assert.equal(matchesRule(rule, question), true)
  assert.equal(matchesRule(rule, { ...question, resource: 'pods/log' }), true)
  assert.equal(matchesRule(rule, { ...question, resource: 'pods/exec' }), false)
  assert.equal(matchesRule(rule, { ...question, verb: 'delete' }), false)
  assert.equal(matchesRule(rule, { ...question, group: 'apps' }), false)
  assert.equal(matchesRule({ ...rule, resourceNames: ['web'] }, question), false)
  assert.equal(matchesRule({ ...rule, resourceNames: ['web'] }, { ...question, name: 'web' }), true)
  const refusal = readRefusal('secrets "a" is forbidden: User "eve" cannot get resource "secrets" in API group "" in the namespace "shop"')
  assert.deepEqual(refusal, { user: 'eve', question: { verb: 'get', group: '', resource: 'secrets', namespace: 'shop', name: 'a' } })
  assert.equal(readRefusal('something else'), undefined)
})

test('requests become commands that a shell reads back', () => {
  const request = {
    method: 'POST',
    path: '/api/v1/x?a=b&c',
    accept: '',
    contentType: 'application/json',
    body: `{"a":"it's"}`,
    bodyLength: 12,
  }
  assert.equal(
    asCurl('https://host', request),
    `curl --cacert ca.crt -H "Authorization: Bearer $TOKEN" -X POST -H 'Content-Type: application/json' --data-binary '{"a":"it'\\''s"}' 'https://host/api/v1/x?a=b&c'`,
  )
  assert.equal(asClusterctl({ ...request, method: 'GET' }), "clusterctl get --raw '/api/v1/x?a=b&c'")
  const patch = { ...request, method: 'PATCH', contentType: 'application/merge-patch+json', body: '{"spec":{}}' }
  assert.equal(
    asClusterctl({ ...patch, path: '/apis/apps/v1/namespaces/shop/deployments/web?fieldManager=console&dryRun=All' }),
    `clusterctl patch deployments.v1.apps web -n shop --dry-run=server --field-manager=console --type=merge -p '{"spec":{}}'`,
  )
  assert.equal(
    asClusterctl({ ...patch, path: '/api/v1/namespaces/shop/status' }),
    `clusterctl patch namespaces shop --subresource=status --type=merge -p '{"spec":{}}'`,
  )
  const body = '{"propagationPolicy":"Orphan","preconditions":{"uid":"1"}}'
  assert.equal(
    asClusterctl({ ...request, method: 'DELETE', path: '/api/v1/nodes/a', body }),
    'clusterctl delete nodes a --cascade=orphan --wait=false # without the preconditions',
  )
  assert.match(asClusterctl({ ...patch, contentType: 'application/apply-patch+yaml' }), /^# clusterctl has no command/)
})

test('metrics are read with their labels', () => {
  const text = '# HELP a b\na{x="1",y="quo\\"te"} 2\na{x="2"} 3\nb 4.5e+01\nc 1\n'
  const metrics = readMetrics(text, new Set(['a', 'b']))
  assert.equal(sumOf(metrics.get('a')), 5)
  assert.equal(
    sumOf(metrics.get('a'), ({ y }) => y === 'quo"te'),
    2,
  )
  assert.equal(sumOf(metrics.get('b')), 45)
  assert.equal(metrics.has('c'), false)
})

test('figures of the server: counters per second, and no figure that the server does not measure', () => {
  const history = new GaugeHistory()
  const add = (text: string, atMs: number): void => history.add(readMetrics(text, new Set(gaugeMetrics)), atMs)
  const pointsOf = (title: string): readonly number[] | undefined => history.series.find(({ gauge }) => gauge.title === title)?.points
  add('apiserver_request_total 10\napiserver_storage_revision 5\n', 0)
  assert.deepEqual([pointsOf('Store size'), pointsOf('Requests per second'), pointsOf('Revision')], [[], [], [5]])
  const sizes = 'apiserver_storage_db_total_size_in_bytes{endpoint="a"} 70\napiserver_storage_db_total_size_in_bytes{endpoint="b"} 80\n'
  add(`apiserver_request_total 16\n${sizes}`, 3000)
  // The server restarted.
  add(`apiserver_request_total 1\n${sizes}`, 6000)
  assert.deepEqual([pointsOf('Store size'), pointsOf('Requests per second')], [[80, 80], [2]])
})

describe('order of rows', () => {
  const row = (name: string, cell: unknown) => ({
    key: name,
    name,
    namespace: '',
    uid: name,
    cells: [name, cell],
    createdMs: 0,
    isTerminating: false,
    changedMs: undefined,
  })

  test('changes keep the order of a sort and a filter', async () => {
    const order = new RowOrder()
    order.add(Array.from({ length: 10_000 }, (_, i) => row(`r${String(i).padStart(5, '0')}`, i % 97)))
    assert.equal(await order.arrange({ by: 1, isDescending: true }, 'r0'), true)
    order.apply([
      { type: 'put', row: row('r00001', 500) },
      { type: 'delete', key: 'r00002' },
      { type: 'put', row: row('x', 900) },
      { type: 'put', row: row('r0new', 1000) },
    ])
    const names = order.rows.map(({ name }) => name)
    assert.deepEqual(names.slice(0, 2), ['r0new', 'r00001'])
    assert.equal(names.includes('r00002') || names.includes('x'), false)
    const cells = order.rows.map(({ cells: [, cell] }) => Number(cell))
    assert.deepEqual(
      cells,
      cells.toSorted((a, b) => b - a),
    )
    assert.equal(await order.arrange(serverOrder, ''), true)
    assert.equal(order.rows.length, 10_001)
    assert.equal(order.rows.at(-1)?.name, 'x')
  })

  test('rows that change during a sort are in their place after it', async () => {
    const order = new RowOrder()
    order.add(Array.from({ length: 20_000 }, (_, i) => row(`r${String(i).padStart(5, '0')}`, i % 89)))
    const sorted = order.arrange({ by: 1, isDescending: false }, '')
    order.apply([
      { type: 'put', row: row('r00000', 1000) },
      { type: 'put', row: row('new', -1) },
      { type: 'delete', key: 'r19999' },
    ])
    assert.equal(await sorted, true)
    const names = order.rows.map(({ name }) => name)
    assert.deepEqual([names[0], names.at(-1), names.length, new Set(names).size], ['new', 'r00000', 20_000, 20_000])
    assert.equal(names.includes('r19999'), false)
  })

  test('numbers in cells count as numbers', () => {
    const sorted = ['10', '9', '2/3', 'a', '10/2', 7].toSorted(compareCells)
    assert.deepEqual(sorted, ['2/3', 7, '9', '10', '10/2', 'a'])
  })
})
