// The plays: what people do with objects, in steps that every client knows.

import { deploymentOf, serviceOf } from '../manifests.js'
import type { Play, Ref } from './play.js'

const map = (name: string): Ref => ({ apiVersion: 'v1', kind: 'ConfigMap', name })
const maps = { apiVersion: 'v1', kind: 'ConfigMap' }
const mapOf = (name: string, data: Readonly<Record<string, string>>, labels: Readonly<Record<string, string>> = {}) => ({
  ...maps,
  metadata: { name, labels },
  data,
})
const deployment = (name: string): Ref => ({ apiVersion: 'apps/v1', kind: 'Deployment', name })
const imageOf = (image: string) => ({ spec: { template: { spec: { containers: [{ name: 'web', image }] } } } })

export const plays: readonly Play[] = [
  {
    title: 'a life',
    steps: [
      { op: 'get', ref: map('life') },
      { op: 'create', object: mapOf('life', { a: '1', text: 'ä€😀\n' }) },
      { op: 'create', object: mapOf('life', { a: '2' }) },
      { op: 'get', ref: map('life') },
      { op: 'update', ref: map('life'), fields: { data: { b: '2' } } },
      { op: 'staleUpdate', ref: map('life'), fields: { data: { c: '3' } } },
      { op: 'get', ref: map('life') },
      { op: 'delete', ref: map('life') },
      { op: 'delete', ref: map('life') },
      { op: 'get', ref: map('life') },
    ],
  },
  {
    title: 'patches',
    steps: [
      { op: 'create', object: deploymentOf('web') },
      { op: 'patch', ref: deployment('web'), type: 'strategic', patch: imageOf('registry.example/web:2') },
      {
        op: 'patch',
        ref: deployment('web'),
        type: 'merge',
        patch: { metadata: { labels: { tier: 'front', app: null } }, spec: { replicas: 5 } },
      },
      {
        op: 'patch',
        ref: deployment('web'),
        type: 'json',
        patch: [
          { op: 'test', path: '/spec/replicas', value: 5 },
          { op: 'replace', path: '/spec/replicas', value: 9 },
        ],
      },
      { op: 'patch', ref: deployment('web'), type: 'json', patch: [{ op: 'test', path: '/spec/replicas', value: 5 }] },
      { op: 'patch', ref: deployment('web'), type: 'merge', patch: { spec: { replicas: -1 } } },
      { op: 'patch', ref: deployment('none'), type: 'merge', patch: { spec: { replicas: 1 } } },
      { op: 'get', ref: deployment('web') },
      { op: 'delete', ref: deployment('web') },
    ],
  },
  {
    title: 'fields and their owners',
    steps: [
      { op: 'apply', object: mapOf('owned', { a: '1', b: '1' }), manager: 'alice', force: false },
      { op: 'apply', object: mapOf('owned', { a: '2' }), manager: 'bob', force: false },
      { op: 'apply', object: mapOf('owned', { a: '2' }), manager: 'bob', force: true },
      { op: 'apply', object: mapOf('owned', { c: '3' }), manager: 'alice', force: false },
      { op: 'get', ref: map('owned') },
    ],
  },
  {
    title: 'selections',
    steps: [
      ...['c', 'a', 'b'].map((name) => ({ op: 'create', object: mapOf(name, {}, { side: name === 'a' ? 'left' : 'right' }) }) as const),
      { op: 'list', ref: maps, selector: 'side' },
      { op: 'list', ref: maps, selector: 'side=right' },
      { op: 'list', ref: maps, selector: 'side in (left),side!=right' },
      { op: 'list', ref: maps, selector: 'side=none' },
    ],
  },
  {
    title: 'what is refused',
    steps: [
      { op: 'create', object: mapOf('Not_A_Name', {}) },
      { op: 'create', object: { ...serviceOf('broken'), spec: { ports: [{ port: 99_999 }] } } },
      { op: 'create', object: serviceOf('fine') },
      { op: 'patch', ref: { apiVersion: 'v1', kind: 'Service', name: 'fine' }, type: 'merge', patch: { spec: { clusterIP: '1.2.3.4' } } },
      { op: 'update', ref: map('none'), fields: { data: {} } },
    ],
  },
  {
    title: 'parts and copies',
    steps: [
      { op: 'create', object: deploymentOf('parts') },
      { op: 'scale', ref: deployment('parts'), replicas: 4 },
      { op: 'scale', ref: deployment('none'), replicas: 4 },
      { op: 'updateStatus', ref: deployment('parts'), status: { replicas: 2, observedGeneration: 1 } },
      { op: 'updateStatus', ref: deployment('parts'), status: { replicas: -2 } },
      { op: 'update', ref: deployment('parts'), fields: { status: { replicas: 9 } } },
      { op: 'get', ref: deployment('parts') },
      { op: 'delete', ref: deployment('parts') },
    ],
  },
  {
    title: 'pages, dry runs and sweeps',
    steps: [
      ...['e', 'd', 'c', 'b', 'a'].map(
        (name) => ({ op: 'create', object: mapOf(name, {}, { page: name < 'd' ? 'early' : 'late' }) }) as const,
      ),
      { op: 'list', ref: maps, selector: 'page', limit: 2 },
      { op: 'list', ref: maps, selector: 'page', fieldSelector: 'metadata.name=b' },
      { op: 'list', ref: maps, selector: 'page', fieldSelector: 'metadata.name!=b', limit: 1 },
      { op: 'list', ref: maps, selector: 'page', fieldSelector: 'data.a=1' },
      { op: 'create', object: mapOf('never', { a: '1' }), dryRun: true },
      { op: 'create', object: mapOf('a', { a: '1' }), dryRun: true },
      { op: 'get', ref: map('never') },
      { op: 'deleteSelected', ref: maps, selector: 'page=early' },
      { op: 'list', ref: maps, selector: 'page' },
    ],
  },
  {
    title: 'what must be finished first',
    steps: [
      { op: 'create', object: { ...maps, metadata: { name: 'held', finalizers: ['example.com/hold'] } } },
      { op: 'delete', ref: map('held') },
      { op: 'get', ref: map('held') },
      { op: 'patch', ref: map('held'), type: 'merge', patch: { metadata: { finalizers: ['example.com/hold', 'example.com/more'] } } },
      { op: 'patch', ref: map('held'), type: 'merge', patch: { data: { still: 'here' } } },
      { op: 'patch', ref: map('held'), type: 'merge', patch: { metadata: { finalizers: null } } },
      { op: 'get', ref: map('held') },
    ],
  },
  {
    title: 'in the name of others',
    steps: [
      { op: 'create', object: mapOf('theirs', { a: '1' }) },
      { op: 'as', user: 'alice', ref: maps, step: { op: 'get', ref: map('theirs') } },
      {
        op: 'create',
        object: {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'RoleBinding',
          metadata: { name: 'alice' },
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
          subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'alice' }],
        },
      },
      { op: 'as', user: 'alice', ref: maps, step: { op: 'get', ref: map('theirs') } },
      { op: 'as', user: 'alice', ref: maps, step: { op: 'list', ref: { apiVersion: 'v1', kind: 'Secret' }, selector: 'a' } },
      { op: 'as', user: 'bob', ref: maps, step: { op: 'list', ref: maps, selector: 'a' } },
    ],
  },
  {
    title: 'tables',
    steps: [
      { op: 'create', object: deploymentOf('web') },
      { op: 'create', object: deploymentOf('api', { replicas: 1, image: 'registry.example/api:7' }) },
      { op: 'create', object: mapOf('one', { a: '1', b: '2' }, { shown: 'yes' }) },
      { op: 'table', ref: { apiVersion: 'apps/v1', kind: 'Deployment' }, selector: 'app' },
      { op: 'table', ref: { apiVersion: 'apps/v1', kind: 'Deployment' }, selector: 'app=api' },
      { op: 'table', ref: maps, selector: 'shown=yes' },
    ],
  },
  {
    title: 'bookmarks',
    steps: [
      {
        op: 'resume',
        ref: maps,
        selector: 'kept=yes',
        before: [
          { op: 'create', object: mapOf('one', {}, { kept: 'yes' }) },
          { op: 'create', object: mapOf('unseen', {}) },
        ],
        later: [
          { op: 'create', object: mapOf('two', {}, { kept: 'yes' }) },
          { op: 'delete', ref: map('one') },
        ],
      },
    ],
  },
  {
    title: 'versions that are not kept',
    way: 'short history',
    steps: [{ op: 'watchFrom', ref: maps, resourceVersion: '1' }],
  },
  ...(['token of a plugin', 'certificate of a plugin'] as const).map(
    (way): Play => ({
      title: `the ${way}`,
      way,
      steps: [
        { op: 'create', object: mapOf('mine', { a: '1' }) },
        { op: 'get', ref: map('mine') },
        { op: 'get', ref: map('none') },
        { op: 'list', ref: maps, selector: 'a' },
        // What carol may not do.
        { op: 'delete', ref: map('mine') },
      ],
    }),
  ),
  {
    title: 'the refused token of a plugin',
    way: 'refused token of a plugin',
    steps: [{ op: 'get', ref: map('mine') }],
  },
  {
    title: 'what a watch sees',
    steps: [
      { op: 'create', object: mapOf('before', {}, { seen: 'yes' }) },
      {
        op: 'watch',
        ref: maps,
        selector: 'seen=yes',
        during: [
          { op: 'create', object: mapOf('one', {}, { seen: 'yes' }) },
          { op: 'patch', ref: map('one'), type: 'merge', patch: { data: { a: '1' } } },
          { op: 'patch', ref: map('before'), type: 'merge', patch: { metadata: { labels: { seen: 'no' } } } },
          { op: 'delete', ref: map('one') },
        ],
      },
    ],
  },
]
