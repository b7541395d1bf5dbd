import { Progress } from '../../ui/progress'

/** While the calendar is computed. What there is of it by then says nothing yet: who comes first may come last. */
export const Simulating = ({ progress }: { readonly progress: number }) => (
  <div role="status" className="mb-4 flex flex-col gap-1.5">
    <p className="text-sm text-soft">
      Walking through the days… <span className="tabular-nums">{Math.floor(100 * progress)} %</span>
    </p>
    <Progress
      label="Days computed"
      total={100}
      parts={[{ label: 'computed', value: Math.floor(100 * progress), className: 'bg-accent' }]}
    />
  </div>
)
