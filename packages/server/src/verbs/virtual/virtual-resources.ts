// The one table of what is done for kinds and subresources of which nothing is kept. The definitions in `resources` say by name what they are,
// and the compiler that nothing is missing here. To add one: its definition, its function, and a line here.

import type { ActionName, ConnectionName } from '../../api/definition.js'
import { reviewSelf } from '../../resources/authentication/self-subject-review.js'
import type { definitions } from '../../resources/index.js'
import { reviewOwnAccess, reviewOwnRules, reviewSubjectAccess } from './access-reviews.js'
import { bind } from './binding.js'
import { componentStatuses } from './component-statuses.js'
import { evict } from './eviction.js'
import { issueToken } from './issue-token.js'
import { attachTo, forwardPorts, readLog, runCommand } from './pod-connections.js'
import { proxyToNode, proxyToPod, proxyToService } from './proxies.js'
import type { Action, Compute, Connect, Review } from './signatures.js'
import { reviewToken } from './token-review.js'

type Definition = (typeof definitions)[number]
type ReviewName = Extract<Definition, { readonly review: string }>['review']
type ComputedName = Extract<Definition, { readonly computed: string }>['computed']

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
