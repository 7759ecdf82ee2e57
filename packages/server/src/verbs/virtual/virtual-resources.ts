// Functions of virtual resources, which are not stored, by the names in their definitions; the compiler checks that none is missing.

import type { ActionName, ConnectionName } from '@cluster-apiserver/api/api/definition/resource-definition.js'
import { reviewSelf } from '@cluster-apiserver/api/resources/authentication/token-review.js'
import type { definitions } from '@cluster-apiserver/api/resources/index.js'
import type { metricsDefinitions } from '@cluster-apiserver/api/resources/metrics/resource-metrics.js'
import { reviewOwnAccess, reviewOwnRules, reviewSubjectAccess } from './access-reviews.js'
import { componentStatuses } from './component-status.js'
import { evict } from './eviction.js'
import { bind } from './pod-binding.js'
import { attachTo, forwardPorts, readLog, runCommand } from './pod-exec-port-forward.js'
import { proxyToNode, proxyToPod, proxyToService } from './proxy-subresources.js'
import { issueToken } from './token-request.js'
import { reviewToken } from './token-review.js'
import type { Action, Compute, Connect, Review } from './virtual-resource-types.js'

type Definition = (typeof definitions)[number]
type ReviewName = Extract<Definition, { readonly review: string }>['review']
type ComputedName = Extract<Definition | (typeof metricsDefinitions)[number], { readonly computed: string }>['computed']

export const reviews: { readonly [Name in ReviewName]: Review } = {
  LocalSubjectAccessReview: reviewSubjectAccess,
  SelfSubjectAccessReview: reviewOwnAccess,
  SelfSubjectReview: (_engine, call) => reviewSelf(call),
  SelfSubjectRulesReview: reviewOwnRules,
  SubjectAccessReview: reviewSubjectAccess,
  TokenReview: reviewToken,
}

export const computed: { readonly [Name in ComputedName]: Compute } = {
  ComponentStatus: componentStatuses,
  NodeMetrics: async ({ usage }) => (await usage?.ofNodes()) ?? [],
  PodMetrics: async ({ usage }, { namespace }) => (await usage?.ofPods(namespace)) ?? [],
}

export const actions: { readonly [Name in ActionName]: Action } = {
  bind,
  evict,
  issueToken,
}

export const connections: { readonly [Name in ConnectionName]: Connect } = {
  attach: attachTo,
  exec: runCommand,
  log: readLog,
  portforward: forwardPorts,
  proxyToNode,
  proxyToPod,
  proxyToService,
}
