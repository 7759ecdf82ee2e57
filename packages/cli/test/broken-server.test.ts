// Servers that answer with nonsense, or without end: clusterctl says so, and ends.

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { newFolder } from '../kit/server-process.js'
import { runHere } from './run-here.js'

const discovery = (resource: object): object => ({
  kind: 'APIGroupDiscoveryList',
  items: [
    { versions: [{ version: 'v1', resources: [{ resource: 'things', scope: 'Cluster', responseKind: { kind: 'Thing' }, ...resource }] }] },
  ],
})
const none = { kind: 'APIGroupDiscoveryList', items: [] }

/** What `get things` says of a server with these answers, and how often that was asked for things. */
async function getThings(answers: { readonly [path: string]: unknown }) {
  let asked = 0
  const server = createServer((request, response) => {
    const path = (request.url ?? '').split('?')[0] as string
    if (path === '/api/v1/things' && ++asked > 1000) return void response.destroy()
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answers[path] ?? none))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const words = ['get', 'things', `--server=${url}`, `--cache-dir=${newFolder()}`, '--kubeconfig=/dev/null']
  const table = await runHere(words)
  const json = await runHere([...words, '-o', 'json'])
  server.close()
  server.closeAllConnections()
  return { table, json, asked }
}

test('what cannot be read is told with its place, and not as an error of a program', async () => {
  for (const [answers, complaint] of [
    [
      { '/api': { kind: 'APIGroupDiscoveryList', items: 7 } },
      /^error: the server gave \/api in a form that cannot be read: items is no list\n/,
    ],
    [{ '/api': discovery({ responseKind: { kind: {} } }) }, /resources\[0\]\.responseKind\.kind is no text/],
    [{ '/api': discovery({ shortNames: 'th' }) }, /resources\[0\]\.shortNames is no list/],
  ] as const) {
    const { table } = await getThings(answers)
    assert.deepEqual([table.code, table.stdout], [1, ''])
    assert.match(table.stderr, complaint)
  }
  for (const [things, complaint] of [
    [{ kind: 'ThingList', items: [] }, /^error: the server was asked for a table and gave ThingList\n/],
    [{ kind: 'Table', columnDefinitions: 'all', rows: [] }, /a table in a form that cannot be read: columnDefinitions is no list/],
    [{ kind: 'Table', columnDefinitions: [{ name: 'Name' }], rows: [null] }, /rows\[0\] is no object/],
    [{ kind: 'Table', columnDefinitions: [{ name: 'Name' }], rows: [{ cells: {} }] }, /rows\[0\]\.cells is no list/],
  ] as const) {
    const { table } = await getThings({ '/api': discovery({}), '/api/v1/things': things })
    assert.equal(table.code, 1)
    assert.match(table.stderr, complaint)
  }
  for (const items of ['all', [null], ['a']]) {
    const { json } = await getThings({
      '/api': discovery({}),
      '/api/v1/things': { kind: 'ThingList', apiVersion: 'v1', metadata: {}, items },
    })
    assert.equal(json.code, 1)
    assert.match(json.stderr, /^error: the server gave a list/)
  }
})

test('pages without end are not followed', async () => {
  const metadata = { continue: 'again' }
  const things = { kind: 'Table', apiVersion: 'v1', metadata, columnDefinitions: [{ name: 'Name' }], rows: [{ cells: ['a'] }], items: [{}] }
  const { table, json, asked } = await getThings({ '/api': discovery({}), '/api/v1/things': things })
  for (const { code, stderr } of [table, json]) {
    assert.equal(code, 1)
    assert.match(stderr, /^error: the list has no end: the server names the same page as the next one again\n/)
  }
  assert.equal(asked, 4)
})
