// The pages of the header, in order.

import { showAccess } from '../understand/access-page.js'
import { showRequests } from '../understand/requests-page.js'
import { showServer } from '../understand/server-page.js'
import type { PageContext } from './page-context.js'

interface Page {
  readonly id: string
  readonly title: string
  show(host: HTMLElement, context: PageContext): void
}

export const pages: readonly Page[] = [
  { id: 'access', title: 'Access', show: showAccess },
  { id: 'requests', title: 'Requests', show: showRequests },
  { id: 'server', title: 'Server', show: showServer },
]
