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
