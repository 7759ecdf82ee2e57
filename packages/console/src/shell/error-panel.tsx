// Shows an error of the server or of the connection; a refusal with a link to its explanation.

import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import { StatusError } from '@cluster-apiserver/client/browser.js'
import { readRefusal } from '../understand/rbac-rules.js'
import { routeTo } from './route.js'

interface ErrorPanelProps {
  readonly error: unknown
  readonly title: string
}

export function ErrorPanel({ error, title }: ErrorPanelProps) {
  const status = error instanceof StatusError ? error : undefined
  const message = errorMessage(error)
  const refusal = status?.code === 403 ? readRefusal(message) : undefined
  return (
    <div class="problem" role="alert">
      <strong>
        {title}
        {status && ` (${status.code} ${status.reason})`}
      </strong>
      <p>{message}</p>
      {refusal && (
        <p>
          <a href={accessRoute(refusal)}>Why was this refused?</a>
        </p>
      )}
    </div>
  )
}

function accessRoute({ question: { verb, group, resource, namespace, name } }: NonNullable<ReturnType<typeof readRefusal>>): string {
  return routeTo(['access'], { verb, resource: group === '' ? resource : `${resource}.${group}`, namespace, name })
}
