// The table in docs/authorization.md of who may do what on a fresh server is what the server says. `UPDATE_DOCS=1` writes it anew.

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { type Embedded, startEmbedded } from '../kit/embedded.js'
import { expectStatus, until } from '../kit/fixtures.js'
import { repoRoot } from '../kit/paths.js'
import { bindingOf, rbac } from './acting.js'

const document = `${repoRoot}docs/authorization.md`
const marks = ['<!-- who may what: made by test/security/who-may-what.test.ts -->', '<!-- end -->'] as const

interface Somebody {
  readonly title: string
  readonly user: string
  readonly groups: readonly string[]
}

const known = 'system:authenticated'
const people: readonly Somebody[] = [
  { title: 'anonymous', user: 'system:anonymous', groups: ['system:unauthenticated'] },
  { title: 'any user', user: 'somebody', groups: [known] },
  {
    title: 'service account',
    user: 'system:serviceaccount:default:default',
    groups: ['system:serviceaccounts', 'system:serviceaccounts:default', known],
  },
  { title: '`view`', user: 'of-view', groups: [known] },
  { title: '`edit`', user: 'of-edit', groups: [known] },
  { title: '`admin`', user: 'of-admin', groups: [known] },
  { title: 'node', user: 'system:node:n', groups: ['system:nodes', known] },
  { title: 'scheduler', user: 'system:cluster-scheduler', groups: [known] },
  { title: 'controller manager', user: 'system:cluster-controller-manager', groups: [known] },
]

const letters = { get: 'g', list: 'l', watch: 'w', create: 'c', update: 'u', patch: 'p', delete: 'd', deletecollection: 'D' } as const
const paths = [
  '/livez',
  '/readyz',
  '/healthz',
  '/version',
  '/api',
  '/apis',
  '/openapi/v2',
  '/.well-known/openid-configuration',
  '/openid/v1/jwks',
  '/metrics',
  '/debug/pprof/',
  '/logs/',
]

interface Place {
  readonly group: string
  readonly resource: string
  readonly subresource: string
  readonly namespaced: boolean
  readonly verbs: readonly string[]
}

describe('who may what', () => {
  let running: Embedded
  before(async () => {
    running = await startEmbedded('memory')
    for (const role of ['view', 'edit', 'admin'])
      expectStatus(
        await running.client.post(`${rbac}/namespaces/default/rolebindings`, bindingOf(role, 'ClusterRole', role, `of-${role}`)),
        201,
      )
    // Roles that collect have their rules a moment after the start.
    for (const role of ['view', 'edit', 'admin'])
      await until(
        async () => (await running.client.get(`${rbac}/clusterroles/${role}`)).json,
        (found) => ((found['rules'] as unknown[] | null) ?? []).length > 3,
      )
  })
  after(() => running.close())

  const may = async ({ user, groups }: Somebody, attributes: object): Promise<boolean> => {
    const answer = await running.client.post('/apis/authorization.cluster.io/v1/subjectaccessreviews', {
      spec: { user, groups, ...attributes },
    })
    return (expectStatus(answer, 201).json['status'] as { readonly allowed: boolean }).allowed
  }

  const places = async (): Promise<readonly Place[]> => {
    const groups = (await running.client.get('/apis')).json['groups'] as readonly {
      readonly preferredVersion: { readonly groupVersion: string }
    }[]
    const found: Place[] = []
    for (const version of ['', ...groups.map(({ preferredVersion }) => preferredVersion.groupVersion)]) {
      const { json } = await running.client.get(version === '' ? '/api/v1' : `/apis/${version}`)
      for (const { name, namespaced, verbs } of json['resources'] as readonly {
        name: string
        namespaced: boolean
        verbs: readonly string[]
      }[]) {
        const [resource = '', subresource = ''] = name.split('/')
        found.push({ group: version.includes('/') ? (version.split('/')[0] ?? '') : '', resource, subresource, namespaced, verbs })
      }
    }
    return found
  }

  const rowOf = async ({ group, resource, subresource, namespaced, verbs }: Place): Promise<readonly string[]> => {
    const cells = await Promise.all(
      people.map(async (somebody) => {
        const allowed = await Promise.all(
          verbs.map((verb) =>
            may(somebody, { resourceAttributes: { group, resource, subresource, verb, ...(namespaced ? { namespace: 'default' } : {}) } }),
          ),
        )
        const held = verbs.filter((_, i) => allowed[i])
        return held.length === 0
          ? ''
          : (Object.keys(letters) as (keyof typeof letters)[])
              .filter((verb) => held.includes(verb))
              .map((verb) => letters[verb])
              .join('')
      }),
    )
    return [`\`${resource}${subresource === '' ? '' : `/${subresource}`}${group === '' ? '' : ` ${group}`}\``, ...cells]
  }

  test('is what the document says', async () => {
    const rows: string[][] = []
    for (const place of await places()) rows.push([...(await rowOf(place))])
    for (const path of paths) {
      const allowed = await Promise.all(people.map((somebody) => may(somebody, { nonResourceAttributes: { path, verb: 'get' } })))
      rows.push([`\`${path}\``, ...allowed.map((isAllowed) => (isAllowed ? 'g' : ''))])
    }
    const told = rows.filter((row) => row.slice(1).some((cell) => cell !== ''))
    const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
    const heads = ['', ...people.map(({ title }) => title)]
    const table = [line(heads), line(heads.map(() => '---')), ...told.map(line)].join('\n')
    const text = readFileSync(document, 'utf8')
    const [start, end] = [text.indexOf(marks[0]) + marks[0].length, text.indexOf(marks[1])]
    assert.ok(start >= marks[0].length && end > start, 'the document has a place for the table')
    if (process.env['UPDATE_DOCS'] === '1') writeFileSync(document, `${text.slice(0, start)}\n\n${table}\n\n${text.slice(end)}`)
    else assert.equal(text.slice(start, end).trim(), table)
    // A few that everybody relies on, whatever the document says.
    const cell = (row: string, title: string): string => told.find(([head]) => head === `\`${row}\``)?.[heads.indexOf(title)] ?? ''
    assert.equal(cell('secrets', '`view`'), '')
    assert.equal(cell('secrets', '`edit`'), 'glwcupdD')
    assert.equal(cell('configmaps', '`view`'), 'glw')
    assert.equal(cell('roles rbac.authorization.cluster.io', '`edit`'), '')
    assert.equal(cell('roles rbac.authorization.cluster.io', '`admin`'), 'glwcupdD')
    assert.equal(cell('/livez', 'anonymous'), 'g')
    assert.equal(cell('/metrics', 'any user'), '')
  })
})
