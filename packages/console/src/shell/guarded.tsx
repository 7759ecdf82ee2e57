// Shows an error in place of a part of the page that cannot be rendered, such as a hostile object. The rest of the page works.

import type { ComponentChildren } from 'preact'
import { useErrorBoundary } from 'preact/hooks'
import { ErrorPanel } from './error-panel.js'

export function Guarded({ children }: { readonly children: ComponentChildren }) {
  const [error] = useErrorBoundary()
  return error === undefined ? <>{children}</> : <ErrorPanel error={error} title="This part of the page cannot be shown" />
}
