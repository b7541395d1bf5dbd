-- A walk that completed stayed on the way to the last place it had moved to. It is at the end; one that stopped stays.
UPDATE "postrider"."enrollments" SET node_id = null, arrived = true WHERE state = 'completed';--> statement-breakpoint
ALTER TABLE "postrider"."enrollments" ADD CONSTRAINT "enrollments_completed" CHECK (state <> 'completed' or node_id is null and arrived);
