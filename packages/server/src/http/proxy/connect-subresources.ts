// CONNECT subresources, which lead to kubelets, pods and services: log, exec, attach, port forward and proxy.

import { unavailableWithoutRetry } from '@cluster-apiserver/api/api/api-error.js'
import type { ConnectionName } from '@cluster-apiserver/api/api/definition/resource-definition.js'
import { connect } from '../../verbs/virtual/virtual-requests.js'
import type { Exchange } from '../pipeline/exchange.js'
import type { Handled } from '../pipeline/filter.js'
import { sendNothing } from '../responses/send-response.js'
import type { Target } from '../rest/target.js'
import { serveUpgrade } from './exec-attach-port-forward.js'
import { servePodLog } from './pod-log.js'
import { serveProxy } from './proxy-subresource.js'

export async function serveConnection(target: Target, to: ConnectionName): Promise<Handled> {
  const { exchange, server, query } = target
  const { backends, engine } = server
  exchange.isLongRunning = true
  backends?.limit.enter(exchange)
  const location = await connect(engine, target.call, { to, catalog: exchange.catalog, query, subpath: subpathOf(exchange) })
  if (location === undefined) sendNothing(exchange)
  else if (backends === undefined) throw unavailableWithoutRetry('connections to kubelets, pods and services are disabled')
  else if (to === 'log') await servePodLog(target, backends, location)
  else if (to === 'proxyToNode' || to === 'proxyToPod' || to === 'proxyToService') await serveProxy(exchange, backends, location)
  else await serveUpgrade(exchange, backends, location)
  return true
}

/** The path after the subresource, with its trailing slash. */
function subpathOf({ info }: Exchange): string {
  const segments = info.parts.slice(3)
  const path = segments.length === 0 ? '' : `/${segments.join('/')}`
  return info.path.endsWith('/') && !path.endsWith('/') ? `${path}/` : path
}
