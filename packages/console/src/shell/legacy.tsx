// Hosts a page that is not yet a component. Deleted when the last one is ported.

import { render } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { ErrorPanel } from './error-panel.js'

export function Legacy({ show }: { readonly show: (host: HTMLElement, signal: AbortSignal) => void }) {
  const host = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const controller = new AbortController()
    if (host.current !== null) show(host.current, controller.signal)
    return () => controller.abort()
  }, [])
  return <div class="legacy" ref={host} />
}

export function errorPanel(error: unknown, title: string): HTMLElement {
  const host = document.createElement('div')
  render(<ErrorPanel error={error} title={title} />, host)
  return host
}
