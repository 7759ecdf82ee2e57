// Routes of resource definitions: paths, operation ids, parameters and responses.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { resolve } from '@cluster-apiserver/api/schema/node.js'
import { allRoutes } from '../documents/whole-document.fixture.js'
import { sampleBlueprint } from '../sample-kinds.fixture.js'
import type { Operation, Route } from './route.js'
import { ownParameters, sharedParameters } from './route.js'

const routes = allRoutes(await sampleBlueprint())
const routeOf = (path: string): Route => routes.find((route) => route.path === path) as Route
const operationOf = (path: string, method: string): Operation =>
  routeOf(path).operations.find((operation) => operation.method === method) as Operation

const things = '/apis/small.things.cluster.io/v1'
const inNamespace = `${things}/namespaces/{namespace}/things`
const one = `${inNamespace}/{name}`

describe('paths and operations of a kind', () => {
  const rows: readonly (readonly [path: string, operations: string])[] = [
    [`${things}/things`, 'get list listSmallThingsV1ThingForAllNamespaces'],
    [
      inNamespace,
      'get list listSmallThingsV1NamespacedThing, post post createSmallThingsV1NamespacedThing, ' +
        'delete deletecollection deleteSmallThingsV1CollectionNamespacedThing',
    ],
    [
      one,
      'get get readSmallThingsV1NamespacedThing, put put replaceSmallThingsV1NamespacedThing, ' +
        'patch patch patchSmallThingsV1NamespacedThing, delete delete deleteSmallThingsV1NamespacedThing',
    ],
    [`${things}/watch/things`, 'get watchlist watchSmallThingsV1ThingListForAllNamespaces'],
    [`${things}/watch/namespaces/{namespace}/things`, 'get watchlist watchSmallThingsV1NamespacedThingList'],
    [`${things}/watch/namespaces/{namespace}/things/{name}`, 'get watch watchSmallThingsV1NamespacedThing'],
    [
      `${one}/status`,
      'get get readSmallThingsV1NamespacedThingStatus, put put replaceSmallThingsV1NamespacedThingStatus, ' +
        'patch patch patchSmallThingsV1NamespacedThingStatus',
    ],
    [`${one}/scale`, 'get get readSmallThingsV1NamespacedThingScale, put put replaceSmallThingsV1NamespacedThingScale'],
    [`${one}/opening`, 'post post createSmallThingsV1NamespacedThingOpening'],
    [`${one}/log`, 'get get readSmallThingsV1NamespacedThingLog'],
    [`${one}/talk`, 'get connect connectSmallThingsV1GetNamespacedThingTalk, post connect connectSmallThingsV1PostNamespacedThingTalk'],
    ['/api/v1/boxes', 'get list listCoreV1Box, post post createCoreV1Box'],
    ['/api/v1/boxes/{name}', 'get get readCoreV1Box, delete delete deleteCoreV1Box'],
    ['/api/v1/watch/boxes', 'get watchlist watchCoreV1BoxList'],
    ['/apis/apiregistration.cluster.io/v1/boxreviews', 'post post createApiregistrationV1BoxReview'],
    ['/apis/shop.example.com/v1beta1/widgets', 'get list listShopExampleComV1beta1WidgetForAllNamespaces'],
  ]
  for (const [path, expected] of rows) {
    test(path, () => {
      const found = routeOf(path).operations.map(({ method, action, id }) => `${method} ${action} ${id}`)
      assert.equal(found.join(', '), expected)
    })
  }

  test('a kind that is only created has no other path', () => {
    const paths = routes.map(({ path }) => path).filter((path) => path.includes('boxreviews'))
    assert.deepEqual(paths, ['/apis/apiregistration.cluster.io/v1/boxreviews'])
  })

  test('a proxy subresource accepts a path and every method', () => {
    for (const path of [`${one}/proxy`, `${one}/proxy/{path}`]) {
      assert.deepEqual(
        routeOf(path)
          .operations.map(({ method }) => method)
          .sort(),
        ['delete', 'get', 'head', 'options', 'patch', 'post', 'put'],
      )
    }
    assert.equal(operationOf(`${one}/proxy/{path}`, 'get').id, 'connectSmallThingsV1GetNamespacedThingProxyWithPath')
    const parameters = operationOf(`${one}/proxy/{path}`, 'get').parameters.map(({ name, in: location }) => `${name} ${location}`)
    assert.deepEqual(parameters.sort(), ['name path', 'namespace path', 'path path', 'path query'])
  })
})

describe('parameters', () => {
  test('parameters of all operations are published with the path', () => {
    const route = routeOf(one)
    const shared = sharedParameters(route)
    assert.deepEqual(
      shared.map(({ name }) => name),
      ['name', 'namespace', 'pretty'],
    )
    assert.deepEqual(ownParameters(operationOf(one, 'get'), shared), [])
    assert.deepEqual(
      ownParameters(operationOf(one, 'patch'), shared).map(({ name, type }) => `${name} ${type}`),
      ['dryRun string', 'fieldManager string', 'fieldValidation string', 'force boolean'],
    )
    assert.deepEqual(
      ownParameters(operationOf(one, 'delete'), shared).map(({ name, type }) => `${name} ${type}`),
      ['dryRun string', 'gracePeriodSeconds integer', 'orphanDependents boolean', 'propagationPolicy string'],
    )
  })

  test('deletecollection has the options of list and delete', () => {
    assert.deepEqual(
      ownParameters(operationOf(inNamespace, 'delete'), [])
        .map(({ name }) => name)
        .join(),
      'continue,dryRun,fieldSelector,gracePeriodSeconds,labelSelector,limit,namespace,orphanDependents,pretty,propagationPolicy,resourceVersion,resourceVersionMatch,timeoutSeconds',
    )
  })

  test('option fields become query parameters, except objects', () => {
    assert.deepEqual(
      ownParameters(operationOf(`${one}/log`, 'get'), []).map(({ name, type }) => `${name} ${type}`),
      ['lines integer', 'name string', 'namespace string', 'pretty string'],
    )
    assert.deepEqual(
      ownParameters(operationOf(`${one}/talk`, 'post'), []).map(({ name, type, description }) => `${name} ${type} ${description}`)[2],
      'stdin boolean ThingTalkOptions stdin',
    )
  })
})

describe('request and response types', () => {
  const responsesOf = (path: string, method: string): string =>
    Object.entries(operationOf(path, method).responses)
      .map(([code, node]) => {
        const value = resolve(node)
        return `${code} ${value.type === 'struct' ? value.name : value.type}`
      })
      .join(', ')

  const rows: readonly (readonly [name: string, path: string, method: string, kind: string, responses: string])[] = [
    ['list', inNamespace, 'get', 'small.things.cluster.io/v1 Thing', '200 ThingList'],
    ['create', inNamespace, 'post', 'small.things.cluster.io/v1 Thing', '200 Thing, 201 Thing, 202 Thing'],
    ['deletecollection', inNamespace, 'delete', 'small.things.cluster.io/v1 Thing', '200 Status'],
    ['delete of a kind that returns the object', one, 'delete', 'small.things.cluster.io/v1 Thing', '200 Thing, 202 Thing'],
    ['delete of a kind with finalization of its own', '/api/v1/boxes/{name}', 'delete', '/v1 Box', '200 Status, 202 Status'],
    [
      'delete of a custom kind',
      '/apis/shop.example.com/v1beta1/namespaces/{namespace}/widgets/{name}',
      'delete',
      'shop.example.com/v1beta1 Widget',
      '200 Status, 202 Status',
    ],
    ['patch', one, 'patch', 'small.things.cluster.io/v1 Thing', '200 Thing, 201 Thing'],
    ['watch', `${things}/watch/things`, 'get', 'small.things.cluster.io/v1 Thing', '200 WatchEvent'],
    ['a subresource with a view', `${one}/scale`, 'put', 'autoscaling/v1 Scale', '200 Scale, 201 Scale'],
    ['an action', `${one}/opening`, 'post', 'doors.cluster.io/v2 Opening', '200 Opening, 201 Opening, 202 Opening'],
    ['a connection', `${one}/talk`, 'get', 'small.things.cluster.io/v1 ThingTalkOptions', '200 string'],
    ['a log', `${one}/log`, 'get', 'small.things.cluster.io/v1 Thing', '200 string'],
  ]
  for (const [name, path, method, kind, responses] of rows) {
    test(name, () => {
      const operation = operationOf(path, method)
      assert.equal(`${operation.kind?.group}/${operation.kind?.version} ${operation.kind?.kind}`, kind)
      assert.equal(responsesOf(path, method), responses)
    })
  }

  test('custom kinds have neither Protobuf nor strategic merge patches', () => {
    const widget = '/apis/shop.example.com/v1beta1/namespaces/{namespace}/widgets/{name}'
    assert.deepEqual(operationOf(widget, 'get').produces, ['application/json', 'application/yaml'])
    assert.deepEqual(operationOf(widget, 'patch').body?.mediaTypes, [
      'application/json-patch+json',
      'application/merge-patch+json',
      'application/apply-patch+yaml',
    ])
    assert.equal(responsesOf(widget, 'patch'), responsesOf(widget, 'get'))
    assert.ok(!operationOf(widget, 'patch').parameters.some(({ name }) => name === 'force'))
    assert.equal(operationOf(widget.slice(0, -'/{name}'.length), 'delete').body, undefined)
  })

  test('built-in kinds use the Protobuf media type of the identity', async () => {
    const path = '/apis/small.things.k8s.io/v1/things'
    const listOperation = allRoutes(await sampleBlueprint('kubernetes')).find((route) => route.path === path)?.operations[0]
    assert.deepEqual(listOperation?.produces, [
      'application/json',
      'application/yaml',
      'application/vnd.kubernetes.protobuf',
      'application/json;stream=watch',
      'application/vnd.kubernetes.protobuf;stream=watch',
    ])
  })
})

test('routes of discovery and of the server itself', () => {
  const others = routes.filter(({ operations: [first] }) => first?.kind === undefined)
  assert.deepEqual(
    others.map(({ path, document, operations: [first] }) => `${path} ${document} ${first?.id} ${first?.tag}`),
    [
      '/.well-known/openid-configuration/ undefined getServiceAccountIssuerOpenIDConfiguration WellKnown',
      '/api/ api getCoreAPIVersions core',
      '/api/v1/ api/v1 getCoreV1APIResources core_v1',
      '/apis/ apis getAPIVersions apis',
      '/apis/apiregistration.cluster.io/ undefined getApiregistrationAPIGroup apiregistration',
      '/apis/apiregistration.cluster.io/v1/ undefined getApiregistrationV1APIResources apiregistration_v1',
      '/apis/small.things.cluster.io/ apis/small.things.cluster.io getSmallThingsAPIGroup smallThings',
      '/apis/small.things.cluster.io/v1/ apis/small.things.cluster.io/v1 getSmallThingsV1APIResources smallThings_v1',
      '/logs/ logs logFileListHandler logs',
      '/logs/{logpath} logs logFileHandler logs',
      '/openid/v1/jwks/ openid/v1/jwks getServiceAccountIssuerOpenIDKeyset openid',
      '/version/ version getCodeVersion version',
    ],
  )
})
