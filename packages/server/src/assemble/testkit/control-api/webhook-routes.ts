// Routes of the control API for webhooks of tests.

import {
  createControlWebhook,
  deleteControlWebhook,
  listControlWebhooks,
  replayControlWebhook,
  reviewsOfWebhook,
} from '../webhooks/control-webhooks.js'
import { ControlError, orRefuse } from './control-error.js'
import type { Route } from './route.js'

const noWebhook = (id: string): ControlError => new ControlError(404, `no webhook ${JSON.stringify(id)}`)

export const webhookRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/webhooks',
    summary: 'registers a webhook that forwards reviews to a server on loopback, or has a fixed response',
    run: ({ testkit: { webhooks } }, { body }) => orRefuse(() => createControlWebhook(webhooks, body)),
  },
  {
    method: 'GET',
    path: '/webhooks',
    summary: 'lists the webhooks',
    run: ({ testkit: { webhooks } }) => ({ webhooks: listControlWebhooks(webhooks) }),
  },
  {
    method: 'GET',
    path: '/webhooks/{id}/reviews',
    summary: 'reviews that a webhook got, with its responses',
    run: ({ testkit: { webhooks } }, { params: { id = '' } }) => {
      const reviews = reviewsOfWebhook(webhooks, id)
      if (reviews === undefined) throw noWebhook(id)
      return { reviews }
    },
  },
  {
    method: 'POST',
    path: '/webhooks/{id}/replay',
    summary: 'repeats the reviews of a webhook, and compares the responses',
    run: async ({ testkit: { webhooks } }, { params: { id = '' }, body }) => {
      const reviews = await orRefuse(() => replayControlWebhook(webhooks, id, body))
      if (reviews === undefined) throw noWebhook(id)
      return { reviews }
    },
  },
  {
    method: 'DELETE',
    path: '/webhooks/{id}',
    summary: 'removes a webhook',
    run: async ({ testkit: { webhooks } }, { params: { id = '' } }) => {
      if (!(await orRefuse(() => deleteControlWebhook(webhooks, id)))) throw noWebhook(id)
    },
  },
]
