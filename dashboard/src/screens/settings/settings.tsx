import { useQuery } from '@tanstack/react-query'
import { api, apiUrl, ask } from '../../api/client'
import { Badge } from '../../ui/badge'
import { Facts, Panel } from '../../ui/panel'
import { QueryView } from '../../ui/query-view'
import { SettingsFrame } from './settings-frame'

/** What the process that answers runs with. It is changed where it is started, not here. */
export function SettingsScreen() {
  const settings = useQuery({ queryKey: ['settings'], queryFn: () => ask(api.GET('/api/admin/settings')) })
  return (
    <SettingsFrame lead="What this process runs with. Settings are changed in its environment, and take effect when it starts.">
      <QueryView query={settings}>
        {({ version, database, broker, public_url: url, settings: all }) => (
          <div className="flex flex-col gap-4">
            <Panel title="Postrider">
              <Facts
                facts={[
                  ['Version', version],
                  ['Database', database === 'embedded' ? 'embedded' : 'PostgreSQL'],
                  ['Broker', broker ?? 'none: the database alone'],
                  ['Public address', url],
                  [
                    'API',
                    <a key="docs" href={apiUrl('/api/docs')} className="underline">
                      its description
                    </a>,
                  ],
                ]}
              />
            </Panel>
            {all.length > 0 && (
              <Panel title="Settings" flush>
                <ul className="divide-y">
                  {all.map(({ name, value, source }) => (
                    <li key={name} className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-2 text-sm">
                      <code className="font-mono text-xs max-sm:basis-full sm:min-w-56">{name}</code>
                      <span className="min-w-0 flex-1 break-words">
                        {value || <span className="text-soft">none</span>}
                      </span>
                      {source !== 'default' && <Badge mood="calm">{source}</Badge>}
                    </li>
                  ))}
                </ul>
              </Panel>
            )}
          </div>
        )}
      </QueryView>
    </SettingsFrame>
  )
}
