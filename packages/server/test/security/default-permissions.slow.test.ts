// Default permissions: the table in docs/authorization.md equals the decisions of a fresh server. `UPDATE_DOCS=1` rewrites it.

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { type Embedded, startEmbedded } from '../../../../test/kit/embedded.js'
import { expectStatus, until } from '../../../../test/kit/fixtures.js'
import { repoRoot } from '../../../../test/kit/paths.js'
import { bindingOf, rbac } from './users.js'

const document = `${repoRoot}docs/authorization.md`
const markers = ['<!-- default permissions -->', '<!-- /default permissions -->'] as const

interface Subject {
  readonly title: string
  readonly user: string
  readonly groups: readonly string[]
}

const authenticatedGroup = 'system:authenticated'
const subjects: readonly Subject[] = [
  { title: 'anonymous', user: 'system:anonymous', groups: ['system:unauthenticated'] },
  { title: 'any user', user: 'somebody', groups: [authenticatedGroup] },
  {
    title: 'service account',
    user: 'system:serviceaccount:default:default',
    groups: ['system:serviceaccounts', 'system:serviceaccounts:default', authenticatedGroup],
  },
  { title: '`view`', user: 'of-view', groups: [authenticatedGroup] },
  { title: '`edit`', user: 'of-edit', groups: [authenticatedGroup] },
  { title: '`admin`', user: 'of-admin', groups: [authenticatedGroup] },
  { title: 'node', user: 'system:node:n', groups: ['system:nodes', authenticatedGroup] },
  { title: 'scheduler', user: 'system:cluster-scheduler', groups: [authenticatedGroup] },
  { title: 'controller manager', user: 'system:cluster-controller-manager', groups: [authenticatedGroup] },
]

const verbLetters = { get: 'g', list: 'l', watch: 'w', create: 'c', update: 'u', patch: 'p', delete: 'd', deletecollection: 'D' } as const
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

interface ResourcePath {
  readonly group: string
  readonly resource: string
  readonly subresource: string
  readonly namespaced: boolean
  readonly verbs: readonly string[]
}

describe('default permissions', () => {
  let running: Embedded
  before(async () => {
    running = await startEmbedded('memory')
    for (const role of ['view', 'edit', 'admin'])
      expectStatus(
        await running.client.post(`${rbac}/namespaces/default/rolebindings`, bindingOf(role, 'ClusterRole', role, `of-${role}`)),
        201,
      )
    // Aggregated roles get their rules shortly after the start.
    for (const role of ['view', 'edit', 'admin'])
      await until(
        async () => (await running.client.get(`${rbac}/clusterroles/${role}`)).json,
        (found) => ((found['rules'] as unknown[] | null) ?? []).length > 3,
      )
  })
  after(() => running.close())

  const isAllowed = async ({ user, groups }: Subject, attributes: object): Promise<boolean> => {
    const response = await running.client.post('/apis/authorization.cluster.io/v1/subjectaccessreviews', {
      spec: { user, groups, ...attributes },
    })
    return (expectStatus(response, 201).json['status'] as { readonly allowed: boolean }).allowed
  }

  const resourcePaths = async (): Promise<readonly ResourcePath[]> => {
    const groups = (await running.client.get('/apis')).json['groups'] as readonly {
      readonly preferredVersion: { readonly groupVersion: string }
    }[]
    const found: ResourcePath[] = []
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

  const rowOf = async ({ group, resource, subresource, namespaced, verbs }: ResourcePath): Promise<readonly string[]> => {
    const cells = await Promise.all(
      subjects.map(async (subject) => {
        const allowed = await Promise.all(
          verbs.map((verb) =>
            isAllowed(subject, {
              resourceAttributes: { group, resource, subresource, verb, ...(namespaced ? { namespace: 'default' } : {}) },
            }),
          ),
        )
        const allowedVerbs = verbs.filter((_, i) => allowed[i])
        return allowedVerbs.length === 0
          ? ''
          : (Object.keys(verbLetters) as (keyof typeof verbLetters)[])
              .filter((verb) => allowedVerbs.includes(verb))
              .map((verb) => verbLetters[verb])
              .join('')
      }),
    )
    return [`\`${resource}${subresource === '' ? '' : `/${subresource}`}${group === '' ? '' : ` ${group}`}\``, ...cells]
  }

  test('equal the table in the documentation', async () => {
    const rows: string[][] = []
    for (const resourcePath of await resourcePaths()) rows.push([...(await rowOf(resourcePath))])
    for (const path of paths) {
      const allowed = await Promise.all(subjects.map((subject) => isAllowed(subject, { nonResourceAttributes: { path, verb: 'get' } })))
      rows.push([`\`${path}\``, ...allowed.map((isAllowed) => (isAllowed ? 'g' : ''))])
    }
    const nonEmpty = rows.filter((row) => row.slice(1).some((cell) => cell !== ''))
    const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
    const heads = ['', ...subjects.map(({ title }) => title)]
    const table = [line(heads), line(heads.map(() => '---')), ...nonEmpty.map(line)].join('\n')
    const text = readFileSync(document, 'utf8')
    const [start, end] = [text.indexOf(markers[0]) + markers[0].length, text.indexOf(markers[1])]
    assert.ok(start >= markers[0].length && end > start, 'the document has a place for the table')
    if (process.env['UPDATE_DOCS'] === '1') writeFileSync(document, `${text.slice(0, start)}\n\n${table}\n\n${text.slice(end)}`)
    else assert.equal(text.slice(start, end).trim(), table)
    // Fixed expectations, whatever the document says.
    const cell = (row: string, title: string): string => nonEmpty.find(([head]) => head === `\`${row}\``)?.[heads.indexOf(title)] ?? ''
    assert.equal(cell('secrets', '`view`'), '')
    assert.equal(cell('secrets', '`edit`'), 'glwcupdD')
    assert.equal(cell('configmaps', '`view`'), 'glw')
    assert.equal(cell('roles rbac.authorization.cluster.io', '`edit`'), '')
    assert.equal(cell('roles rbac.authorization.cluster.io', '`admin`'), 'glwcupdD')
    assert.equal(cell('/livez', 'anonymous'), 'g')
    assert.equal(cell('/metrics', 'any user'), '')
  })
})
