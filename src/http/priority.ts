// Whose requests go on when others have to wait.

import type { RequestInfo } from '../api/request-info.js'
import { mastersGroup } from '../api/user.js'
import type { Exchange } from './exchange.js'

const probePaths = ['/livez', '/readyz', '/healthz']
/** The second one of `/api` and `/apis`, under which nearly everything is asked for. */
const letterOfApi = 0x61

/** Whoever asks whether the server lives is answered also when there is no room: a busy server must not be taken for a dead one. `url`: a path and what follows it. */
export const isProbeUrl = (url: string): boolean =>
  url.charCodeAt(1) !== letterOfApi &&
  probePaths.some((path) => url.startsWith(path) && (url.length === path.length || url[path.length] === '/' || url[path.length] === '?'))

export const isProbe = ({ info }: Exchange): boolean => !info.isResource && isProbeUrl(info.path)

const readOnlyVerbs = new Set(['get', 'list', 'watch', 'head', 'options'])

export const isReading = ({ info }: Exchange): boolean => readOnlyVerbs.has(info.verb)

/** Administrators are not limited in number: they have to be able to mend what keeps the server busy. */
export const isExempt = ({ user }: Exchange): boolean => user.groups.includes(mastersGroup)

const longRunning = new Set(['attach', 'exec', 'proxy', 'log', 'portforward'])

/** What may go on for as long as its client likes, whether it is allowed or not. */
export const isLongRunning = ({ isResource, verb, subresource, path }: RequestInfo): boolean =>
  isResource ? verb === 'watch' || verb === 'proxy' || longRunning.has(subresource) : path.startsWith('/debug/pprof/')
